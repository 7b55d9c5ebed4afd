/// The address that a person writes from: a phone number or an e-mail address.
public enum Handle {
    /// The one spelling of a handle that everything else uses: E.164, or the e-mail address in lower case.
    ///
    /// Blanks, dots, hyphens and brackets in a phone number are dropped. A number without its "+" is refused: nobody can
    /// tell its country. `nil` if it is neither.
    public static func normalised(_ text: String) -> String? {
        let trimmed = text.drop(while: \.isWhitespace)
        guard let first = trimmed.first else { return nil }
        return first == "+" ? phone(trimmed.dropFirst()) : email(trimmed)
    }

    private static func phone(_ text: Substring) -> String? {
        var digits = ""
        for character in text {
            switch character {
            case "0"..."9" where character.isASCII: digits.append(character)
            case " ", "-", ".", "(", ")", "\u{A0}": continue
            default: return nil
            }
        }
        // ITU-T E.164: a country code that does not start with 0, fifteen digits at most.
        guard (2...15).contains(digits.count), !digits.hasPrefix("0") else { return nil }
        return "+" + digits
    }

    private static func email(_ text: Substring) -> String? {
        var address = text.lowercased()
        while address.last?.isWhitespace == true { address.removeLast() }
        let halves = address.split(separator: "@", omittingEmptySubsequences: false)
        // RFC 5321 4.5.3.1: 64 octets before the sign, 255 after it.
        guard halves.count == 2, (1...64).contains(halves[0].utf8.count), (1...255).contains(halves[1].utf8.count),
            !address.contains(where: { $0.isWhitespace || $0.asciiValue.map { $0 < 0x20 || $0 == 0x7F } ?? false })
        else { return nil }
        return address
    }
}
