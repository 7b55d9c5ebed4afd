/// One of the users that all commands agree on, by number.
struct MadeUpUser {
    let number: Int

    init(_ number: Int) { self.number = number }

    var id: String { "user-\(number)" }
    var handle: String { "+1999" + Self.padded(String(number), 7) }
    var deviceID: String { "phone-\(number)" }
    var sessionID: String { "session-\(number)" }
    /// The update token of the user's card: as long as Apple's are now.
    var token: String { Self.padded(String(number, radix: 16), 64) }
    var chatID: String { "00000003-0000-4000-8000-" + Self.padded(String(number, radix: 16), 12) }

    /// Digits with zeros before them, `length` at the least.
    static func padded(_ digits: String, _ length: Int) -> String {
        String(repeating: "0", count: max(0, length - digits.count)) + digits
    }
}
