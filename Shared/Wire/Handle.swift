import Foundation

/// The address that a person writes from: a phone number in E.164 or an e-mail address in lower case.
public struct Handle: Sendable, Hashable {
    /// The one spelling that partitions, look-ups and replies go by.
    public let text: String

    /// Reads what Linq, an app or a backend sends; blanks, dashes, dots and brackets in a number are taken out.
    ///
    /// `nil` for what is neither: a number without its country code names nobody for certain.
    public init?(_ raw: String) {
        guard let text = raw.hasPrefix("+") ? Self.phoneNumber(raw) : Self.email(raw) else { return nil }
        self.text = text
    }

    public var isPhoneNumber: Bool { text.hasPrefix("+") }

    /// ITU-T E.164: a country code, which does not begin with 0, and at most fifteen digits in all.
    private static func phoneNumber(_ raw: String) -> String? {
        let digits = digits(raw)
        guard (7...15).contains(digits.count), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return "+" + String(decoding: digits, as: UTF8.self)
    }

    /// What follows the plus sign, without what may stand between digits.
    private static func digits(_ raw: String) -> [UInt8] {
        guard raw.utf8.allSatisfy({ $0 < 0x80 }) else {
            return Array(raw.dropFirst().filter { !" -.()\u{A0}".contains($0) }.utf8)
        }
        return raw.utf8.dropFirst().filter { byte in
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"): false
            default: true
            }
        }
    }

    /// RFC 5321, 4.5.3.1: 64 bytes before the @, 254 in all.
    private static func email(_ raw: String) -> String? {
        // One spelling also of what Unicode can write in two ways (RFC 6532, 3.1).
        let text = raw.lowercased().precomposedStringWithCanonicalMapping
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].utf8.count), !parts[1].isEmpty, text.utf8.count <= 254,
            text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F && !$0.properties.isWhitespace })
        else { return nil }
        return text
    }
}
