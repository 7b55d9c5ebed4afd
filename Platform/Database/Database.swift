import Crypto
package import Runtime

/// A SQLite file or a PostgreSQL server, behind the same transactions.
///
/// Every connection has a thread of its own; nothing here blocks a shared one.
package final class Database: Sendable {
    package enum Dialect: String, Sendable { case sqlite, postgres }

    package let dialect: Dialect
    private let writers: WorkerPool
    private let readers: WorkerPool
    private let limits: DatabaseLimits
    private let metrics: DatabaseMetrics

    private init(
        _ dialect: Dialect, writers: WorkerPool, readers: WorkerPool, _ limits: DatabaseLimits,
        _ metrics: DatabaseMetrics
    ) {
        self.dialect = dialect
        self.writers = writers
        self.readers = readers
        self.limits = limits
        self.metrics = metrics
    }

    /// Opens the database and makes sure that it answers.
    ///
    /// - Parameters:
    ///   - url: `sqlite:PATH` (made if it is not there, in a folder that is) or `postgres://…`. A PostgreSQL
    ///     server on another machine needs `sslmode=verify-full`, which is also the default for it.
    ///   - connections: How many transactions PostgreSQL runs at a time; SQLite has one that writes, one that reads.
    package static func open(
        _ url: String, connections: Int = 4, limits: DatabaseLimits = DatabaseLimits(), log: Log, metrics: Metrics
    ) async throws(DatabaseError) -> Database {
        let gate = ReconnectGate(log: log)
        let transactions = DatabaseMetrics(metrics)
        if url.hasPrefix("sqlite:") {
            let path = try sqlitePath(url)
            let writer = SessionWorker(.sqlite(path: path, isReader: false), gate, label: "sqlite writer")
            let reader = SessionWorker(.sqlite(path: path, isReader: true), gate, label: "sqlite reader")
            try await writer.open()
            try await reader.open()
            return Database(
                .sqlite, writers: WorkerPool([writer], limits), readers: WorkerPool([reader], limits), limits,
                transactions)
        }
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
            throw DatabaseError(.open, code: "url", "the URL must begin with sqlite: or postgres://")
        }
        let source = SessionSource.postgres(
            try PostgresParameters(url: url, connectTimeout: limits.connectTimeout), limits,
            certificateNotAfter: metrics.certificateNotAfter(client: "postgres"))
        let workers = (0..<max(1, connections)).map { SessionWorker(source, gate, label: "postgres \($0)") }
        try await workers[workers.count - 1].open()  // The one that the pool lends first.
        let pool = WorkerPool(workers, limits)
        return Database(.postgres, writers: pool, readers: pool, limits, transactions)
    }

    private static func sqlitePath(_ url: String) throws(DatabaseError) -> String {
        var path = url.dropFirst("sqlite:".count)
        if path.hasPrefix("//") { path = path.dropFirst(2) }
        guard !path.isEmpty, !path.hasPrefix(":"), !path.utf8.contains(0) else {
            throw DatabaseError(.open, code: "url", "sqlite: must be followed by the path of a file")
        }
        return String(path)
    }

    /// Runs `body` as one transaction and returns after its commit is durable.
    ///
    /// What `body` throws rolls it back.
    ///
    /// Transactions are as if one ran after the other as far as the rows are concerned that both of them write. On
    /// PostgreSQL that means that `body` may be run several times, so it has no effect but through its transaction. It
    /// runs on the connection's thread: it must not wait for anything else, and not for another transaction.
    ///
    /// Throws what `body` throws, or a `DatabaseError`. Cancelling the task does not stop it.
    @discardableResult
    package func transaction<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        try await performAgainIfAsked(.write, on: writers, body)
    }

    /// Runs `body` over one consistent state of the database, next to transactions that write.
    ///
    /// It can change nothing.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        try await performAgainIfAsked(.read, on: readers, body)
    }

    /// Throws unless the database answers.
    package func probe() async throws { _ = try await read { transaction in try transaction.run("SELECT 1") } }

    /// Refuses what comes, waits for the transactions in progress and closes the connections.
    package func close() async {
        await readers.close()
        await writers.close()
    }

    /// A transaction that changes the schema.
    func migrationStep<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        try await perform(.migration, on: writers, body)
    }

    private func performAgainIfAsked<Result: Sendable>(
        _ mode: TransactionMode, on pool: WorkerPool, _ body: @escaping @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        let backoff = Backoff(base: .milliseconds(5), cap: .milliseconds(200))
        var run = 1
        while true {
            do {
                return try await perform(mode, on: pool, body)
            } catch let error as DatabaseError where error.asksToRunAgain && run < limits.maxRuns {
                metrics.runAgain.increment()
                // A cancelled task goes on without the pause.
                try? await Task.sleep(for: backoff.delay(after: run))
                run += 1
            }
        }
    }

    private func perform<Result: Sendable>(
        _ mode: TransactionMode, on pool: WorkerPool, _ body: @escaping @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        let start = monotonicSeconds()
        do {
            let result = try await pool.withWorker { worker in try await worker.perform(mode, body) }
            metrics.observe(mode, since: start, nil)
            return result
        } catch {
            metrics.observe(mode, since: start, error)
            throw error
        }
    }
}
