/// Why Redis did not do what it was asked to.
///
/// A cache's failure is no reason to fail a request: go to the source.
package struct CacheError: Error, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// The URL or the certificates to trust cannot be used.
        case settings
        /// There is no connection, or it broke before the answer came.
        case notConnected
        /// No answer in time; the command may have been carried out or not.
        case timedOut
        /// Redis' own error, such as `WRONGTYPE …`.
        case refused(String)
        /// What came back is not Redis' protocol.
        case protocolError
        /// More commands, or a larger one, than this client takes.
        case tooMuch
    }

    package let kind: Kind
    package let words: String

    package init(_ kind: Kind, _ words: String) {
        self.kind = kind
        self.words = words
    }

    package var description: String { "cache: \(words)" }

    /// Redis' error, without the command's arguments, which it repeats when it does not know a command.
    static func refused(_ words: String) -> CacheError {
        let words = words.split(separator: ", with args beginning with", maxSplits: 1).first.map(String.init) ?? words
        return CacheError(.refused(words), words)
    }

    static let closed = CacheError(.notConnected, "the client is closed")
}
