import COpenSSL

/// Why a cryptographic operation did not succeed.
///
/// It never repeats a key or a plaintext.
package struct CryptoError: Error, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// A key or a set of keys cannot be used as it was given.
        case unusableKey
        /// Sealed bytes name a key that we do not have.
        case unknownKey
        /// Sealed bytes were changed, cut, or belong to another context.
        case notAuthentic
        /// OpenSSL refused an operation that should have worked.
        case failed
    }

    package let kind: Kind
    package let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// OpenSSL's words for the last failure on this thread.
///
/// Empties its queue, which would else colour a later report.
func takeOpenSSLWords() -> String {
    var words: [String] = []
    while case let code = ERR_get_error(), code != 0 {
        if let reason = unsafe ERR_reason_error_string(code) {
            unsafe words.append(String(cString: reason))
        } else {
            words.append("code \(code)")
        }
    }
    return words.isEmpty ? "no reason given" : words.joined(separator: ", ")
}
