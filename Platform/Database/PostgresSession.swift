import Runtime

/// A connection to a PostgreSQL server with its prepared statements.
final class PostgresSession: Session {
    let dialect = Database.Dialect.postgres
    private(set) var isUsable = true
    /// Until when the server's certificate holds, in seconds since 1970; `nil` without TLS.
    var certificateNotAfter: Int64? { connection.certificateNotAfter }
    private let connection: PostgresConnection
    private let limits: DatabaseLimits
    private var statements = StatementCache<String>()
    private var lastName = 0
    private var mode = TransactionMode.read

    init(_ parameters: PostgresParameters, _ limits: DatabaseLimits) throws(DatabaseError) {
        self.limits = limits
        connection = try PostgresConnection(parameters)
        let milliseconds = limits.statementTimeout.milliseconds
        // A commit that the server may still lose would be acknowledged to the queue: `off` is not accepted.
        _ = try request {
            (deadline) throws(DatabaseError) in
            try connection.execute(
                """
                SET statement_timeout = \(milliseconds); SET lock_timeout = \(milliseconds);
                SET idle_in_transaction_session_timeout = \(milliseconds * 2);
                SET bytea_output = hex; SET DateStyle = ISO; SET standard_conforming_strings = on;
                SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
                """, .connect, until: deadline)
        }
    }

    func begin(_ mode: TransactionMode) throws(DatabaseError) {
        self.mode = mode
        // Repeatable read: what was read and is then written cannot have been changed in between by another
        // transaction; the server asks to run the later one again (PostgreSQL 15 manual, 13.2.2).
        let sql =
            switch mode {
            case .read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            case .write: "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"
            case .migration: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
            }
        try execute(sql, .begin)
        guard mode == .migration else { return }
        let milliseconds = limits.migrationTimeout.milliseconds
        try execute("SET LOCAL statement_timeout = \(milliseconds); SET LOCAL lock_timeout = \(milliseconds)", .begin)
    }

    func run(_ sql: String, _ values: [DatabaseValue]) throws(DatabaseError) -> StatementResult {
        let values = try PostgresValues(values)
        let key = sql + "\u{0}" + values.types.map { "\($0)" }.joined(separator: ",")
        let cached = statements.find(key)
        let name = if let cached { cached } else { try prepare(sql, values, key) }
        do {
            return try request { (deadline) throws(DatabaseError) in
                try connection.execute(prepared: name, values, until: deadline).statementResult
            }
        } catch {
            guard cached != nil, error.code == "0A000" || error.code == "26000" else { throw error }
            // The table was altered, or the server forgot the statement: prepared anew, it will do.
            statements.removeAll()
            var error = error
            error.asksToRunAgain = true
            error.isRetryable = true
            throw error
        }
    }

    private func prepare(_ sql: String, _ values: PostgresValues, _ key: String) throws(DatabaseError) -> String {
        lastName += 1
        let name = "s\(lastName)"
        try request { (deadline) throws(DatabaseError) in
            try connection.prepare(sql, named: name, types: values.types, until: deadline)
        }
        if let displaced = statements.insert(name, for: key) { try execute("DEALLOCATE \(displaced)", .prepare) }
        return name
    }

    func runScript(_ sql: String) throws(DatabaseError) { try execute(sql, .run) }

    func commit() throws(DatabaseError) {
        let result = try request { (deadline) throws(DatabaseError) in
            try connection.execute("COMMIT", .commit, until: deadline)
        }
        guard result.command == "COMMIT" else {
            throw DatabaseError(.commit, code: "rollback", "the server rolled the transaction back")
        }
    }

    func rollBack() {
        guard isUsable else { return }
        // Without an answer the connection is given up, and the server rolls back by itself.
        do { try execute("ROLLBACK", .run) } catch { isUsable = false }
    }

    private func execute(_ sql: String, _ operation: DatabaseError.Operation) throws(DatabaseError) {
        _ = try request { (deadline) throws(DatabaseError) in
            try connection.execute(sql, operation, until: deadline)
        }
    }

    /// One exchange with the server.
    ///
    /// It ends the session if the connection did not hold.
    private func request<Result>(
        _ action: (_ deadline: Double) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        let limit = mode == .migration ? limits.migrationTimeout : limits.statementTimeout
        do {
            return try action(monotonicSeconds() + (limit + limits.answerMargin).seconds)
        } catch {
            if error.isConnectionLoss { isUsable = false }
            throw error
        }
    }
}
