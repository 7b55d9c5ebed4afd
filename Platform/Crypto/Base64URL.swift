import Foundation

/// Base64 with the URL alphabet and without padding (RFC 4648, 5), as JWTs and JWKs write it.
package enum Base64URL {
    package static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// The bytes that `text` stands for; `nil` for padding, another alphabet, or bits left over that are not zero.
    package static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") })
        else { return nil }
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: standard + padding) else { return nil }
        let bytes = [UInt8](data)
        // Two texts for the same bytes would be two tokens for the same signature.
        return encode(bytes) == text ? bytes : nil
    }
}
