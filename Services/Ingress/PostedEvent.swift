import Shared

/// What the customer's own backend posts: something happened to a user of theirs.
///
/// `{"name": "left_kitchen", "handle": "+12025559876", "payload": {…}}`, or with `userID` in the place of `handle`.
struct PostedEvent: Sendable, Equatable {
    enum Addressee: Sendable, Equatable {
        case handle(Handle)
        case user(String)
    }

    /// What is wrong with a body: the sender can put it right, so they are told where.
    struct Invalid: Error, Equatable, CustomStringConvertible {
        /// A JSON pointer (RFC 6901).
        let pointer: String
        let expected: String

        var description: String { "\(pointer.isEmpty ? "the body" : pointer): expected \(expected)" }
    }

    static let longestName = 64
    static let longestUserID = 128
    /// Bytes; it crosses the queue with the event.
    static let largestPayload = 64 << 10
    private static let fields = ["name", "handle", "userID", "payload"]

    let name: String
    let addressee: Addressee
    /// JSON text, an object.
    let payload: String

    init(_ body: [UInt8]) throws(Invalid) {
        guard let json = AnyJSON(parsing: body), case .object(let found) = json else {
            throw Invalid(pointer: "", expected: "a JSON object")
        }
        // A misspelt field would do nothing in silence.
        if let other = found.keys.sorted().first(where: { !Self.fields.contains($0) }) {
            throw Invalid(
                pointer: "/" + other.prefix(40),
                expected: "no such field; there are " + Self.fields.joined(separator: ", "))
        }
        name = try Self.name(json["name"])
        addressee = try Self.addressee(json)
        payload = try Self.payload(json["payload"])
    }

    private static func name(_ value: AnyJSON?) throws(Invalid) -> String {
        let isPlain = value?.text?.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard let name = value?.text, isPlain == true, (1...longestName).contains(name.utf8.count) else {
            throw Invalid(
                pointer: "/name", expected: "1 to \(longestName) letters, digits, dots, hyphens or underscores")
        }
        return name
    }

    private static func addressee(_ json: AnyJSON) throws(Invalid) -> Addressee {
        switch (json["handle"], json["userID"]) {
        case (let handle?, nil):
            guard let handle = handle.text.flatMap(Handle.init) else {
                throw Invalid(pointer: "/handle", expected: "E.164 such as +12025559876, or an e-mail address")
            }
            return .handle(handle)
        case (nil, let user?):
            guard let id = user.text, (1...longestUserID).contains(id.unicodeScalars.count) else {
                throw Invalid(pointer: "/userID", expected: "1 to \(longestUserID) characters")
            }
            return .user(id)
        default: throw Invalid(pointer: "", expected: "either handle or userID, to say whom it happened to")
        }
    }

    private static func payload(_ value: AnyJSON?) throws(Invalid) -> String {
        guard let value else { return "{}" }
        guard case .object = value else { throw Invalid(pointer: "/payload", expected: "an object") }
        let bytes = value.bytes
        guard bytes.count <= largestPayload else {
            throw Invalid(pointer: "/payload", expected: "at most \(largestPayload) bytes")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
