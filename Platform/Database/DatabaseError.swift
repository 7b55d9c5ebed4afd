/// Why the database did not do what it was asked to.
///
/// Its description never holds a value of a row or a parameter: it is safe to log.
package struct DatabaseError: Error, Equatable, CustomStringConvertible {
    /// What was being done.
    package enum Operation: String, Sendable {
        case open, connect, wait, begin, prepare, run, commit, read, migrate
    }

    package let operation: Operation
    /// PostgreSQL's SQLSTATE or SQLite's extended result code; a word of ours where neither applies.
    package let code: String
    package let words: String
    /// Whether the same transaction may succeed when tried again, now or later.
    package var isRetryable = false
    package var isUniqueViolation = false
    /// Whether the connection is gone.
    ///
    /// The next transaction opens a new one.
    package var isConnectionLoss = false
    /// Whether the transaction may have been committed all the same: the connection was lost in `COMMIT`.
    package var isOutcomeUnknown = false
    /// Whether running the transaction anew at once is what the database asks for.
    var asksToRunAgain = false

    package init(_ operation: Operation, code: String, _ words: String) {
        self.operation = operation
        self.code = code
        self.words = words
    }

    package var description: String {
        "database: \(operation.rawValue): \(words) (\(code))"
            + (isOutcomeUnknown ? "; whether it was committed is unknown" : "")
    }

    static func closed() -> DatabaseError { DatabaseError(.wait, code: "closed", "the database is closed") }

    /// The connection did not carry the request; nothing is known of the server's side.
    static func lost(_ operation: Operation, code: String, _ words: String) -> DatabaseError {
        var error = DatabaseError(operation, code: code, words)
        error.isConnectionLoss = true
        error.isRetryable = true
        error.isOutcomeUnknown = operation == .commit
        return error
    }

    /// A text with a NUL would be cut short by PostgreSQL; both databases refuse it.
    static func textWithNUL() -> DatabaseError {
        DatabaseError(.run, code: "nul", "a text holds a NUL character; store it as a blob")
    }

    static func tooManyRows() -> DatabaseError {
        DatabaseError(.run, code: "rows", "more than \(Row.limit) rows; ask with a LIMIT")
    }
}
