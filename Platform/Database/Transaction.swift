/// A transaction in progress, to be used inside its closure only.
///
/// A statement that fails fails the whole transaction, in both databases alike: later statements throw the same error,
/// and nothing is committed even if the closure returns. Where a row may exist already, say `ON CONFLICT`.
package final class Transaction {
    private let session: any Session
    private var isOver = false
    private(set) var failure: DatabaseError?

    /// How many rows the last statement inserted, updated or deleted.
    package private(set) var changes = 0

    init(_ session: any Session) { self.session = session }

    package var dialect: Database.Dialect { session.dialect }

    /// Runs one statement and returns its rows, of a `SELECT` or a `RETURNING`.
    ///
    /// - Parameters:
    ///   - sql: Holds no values but `$1`, `$2`, … in both dialects. Its text is the key of the prepared statement, so
    ///     it should be one of few.
    ///   - values: One for each placeholder. A text must not hold a NUL character.
    @discardableResult
    package func run(_ sql: String, _ values: [DatabaseValue] = []) throws(DatabaseError) -> [Row] {
        let result = try guarded { () throws(DatabaseError) in try session.run(sql, values) }
        changes = result.changes
        return result.rows
    }

    /// Runs statements that are separated by semicolons and take no values.
    package func runScript(_ sql: String) throws(DatabaseError) {
        try guarded { () throws(DatabaseError) in try session.runScript(sql) }
    }

    func commit() throws(DatabaseError) {
        try guarded { () throws(DatabaseError) in try session.commit() }
        isOver = true
    }

    func rollBack() {
        isOver = true
        session.rollBack()
    }

    private func guarded<Result>(
        _ action: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        if let failure { throw failure }
        guard !isOver else { throw DatabaseError(.run, code: "over", "the transaction is over") }
        do {
            return try action()
        } catch {
            failure = error
            throw error
        }
    }
}
