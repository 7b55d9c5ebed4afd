import Runtime

/// What is counted of the transactions.
///
/// The time includes the wait for a connection.
struct DatabaseMetrics: Sendable {
    let runAgain: Counter
    private let committed: Counter
    private let rolledBack: Counter
    private let failed: Counter
    private let lost: Counter
    private let writeSeconds: Histogram
    private let readSeconds: Histogram

    init(_ metrics: Metrics) {
        let outcome = { (outcome: String) in
            metrics.counter(
                "isthmus_database_transactions_total", "Transactions by how they ended.", ["outcome": outcome])
        }
        committed = outcome("committed")
        rolledBack = outcome("rolled_back")
        failed = outcome("failed")
        lost = outcome("connection_lost")
        runAgain = outcome("run_again")
        let seconds = { (kind: String) in
            metrics.histogram(
                "isthmus_database_seconds", "Time of a transaction, with the wait for a connection.", ["kind": kind])
        }
        writeSeconds = seconds("write")
        readSeconds = seconds("read")
    }

    func observe(_ mode: TransactionMode, since start: Double, _ error: (any Error)?) {
        (mode == .read ? readSeconds : writeSeconds).observe(monotonicSeconds() - start)
        switch error {
        case nil: committed.increment()
        case let error as DatabaseError where error.isConnectionLoss: lost.increment()
        case is DatabaseError: failed.increment()
        default: rolledBack.increment()
        }
    }
}
