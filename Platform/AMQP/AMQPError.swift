/// Why a connection to the broker could not be had, or ended.
package struct AMQPError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The URL cannot be used; trying again cannot help.
        case badURL
        /// The broker cannot be reached, or the connection broke or was closed.
        case connection
        /// The broker refused one thing and closed the channel; the connection goes on.
        case channel
        /// An exchange or queue is missing.
        case misconfigured
        /// What was waited for did not come in time.
        case timedOut
    }

    package let kind: Kind
    /// What was being done.
    package let operation: String
    /// The broker's reply code (positive), librabbitmq's status (negative), or 0.
    package let code: Int
    /// The broker's or the library's own words.
    package let words: String

    package init(_ kind: Kind, _ operation: String, code: Int = 0, _ words: String) {
        self.kind = kind
        self.operation = operation
        self.code = code
        self.words = words
    }

    package var description: String {
        code == 0 ? "\(operation): \(words)" : "\(operation): \(words) (\(code))"
    }
}
