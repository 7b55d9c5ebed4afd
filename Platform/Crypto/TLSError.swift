/// Why a TLS connection could not be set up or ended.
package struct TLSError: Error, Equatable, CustomStringConvertible {
    /// What was being done, such as "handshake".
    package let operation: String
    /// OpenSSL's words.
    package let words: String

    package var description: String { "TLS \(operation): \(words)" }

    init(_ operation: String, _ words: String) {
        self.operation = operation
        self.words = words
    }
}
