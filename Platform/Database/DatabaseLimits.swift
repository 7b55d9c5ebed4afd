/// How long the database may take, and how many may wait for it.
package struct DatabaseLimits: Sendable {
    /// For the connection to PostgreSQL to be made; whole seconds, at least two.
    package var connectTimeout: Duration = .seconds(3)
    /// After which PostgreSQL gives up a statement or the wait for a lock.
    package var statementTimeout: Duration = .seconds(5)
    /// How much later a server that has not even said that it gave up counts as hung.
    package var answerMargin: Duration = .seconds(2)
    /// For one statement of a migration, and for the wait until another process has migrated.
    package var migrationTimeout: Duration = .seconds(600)
    /// For a connection to be free.
    package var waitTimeout: Duration = .seconds(5)
    /// How many transactions may wait for a connection; one more is refused at once.
    package var maxWaiting = 1024
    /// How often a transaction is run when PostgreSQL asks to run it again.
    package var maxRuns = 10

    package init() {}
}
