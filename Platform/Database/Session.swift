/// What a transaction is for.
enum TransactionMode: Sendable {
    /// Reads one consistent state and changes nothing.
    case read
    case write
    /// Changes the schema. Sees what was committed while it waited for its turn, and may take long.
    case migration
}

/// One open connection to a database.
///
/// It belongs to one thread and waits for the database on it.
protocol Session: AnyObject {
    var dialect: Database.Dialect { get }

    /// False once the connection is lost; such a session can only be dropped.
    var isUsable: Bool { get }

    func begin(_ mode: TransactionMode) throws(DatabaseError)

    func run(_ sql: String, _ values: [DatabaseValue]) throws(DatabaseError) -> StatementResult

    /// Runs statements that are separated by semicolons and take no values.
    func runScript(_ sql: String) throws(DatabaseError)

    func commit() throws(DatabaseError)

    /// Undoes the transaction; a session that cannot do even that is no longer usable.
    func rollBack()
}

struct StatementResult {
    var rows: [Row] = []
    /// How many rows were inserted, updated or deleted.
    var changes = 0
}

/// Prepared statements by their text; the one that was not used for longest makes room.
struct StatementCache<Statement> {
    private var entries: [String: (statement: Statement, lastUse: UInt64)] = [:]
    private var uses: UInt64 = 0
    private let limit: Int

    init(limit: Int = 128) { self.limit = limit }

    mutating func find(_ key: String) -> Statement? {
        guard let found = entries[key]?.statement else { return nil }
        uses += 1
        entries[key]?.lastUse = uses
        return found
    }

    /// Adds `statement` and returns the one that it displaced.
    mutating func insert(_ statement: Statement, for key: String) -> Statement? {
        var displaced: Statement?
        if entries.count >= limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key {
            displaced = entries.removeValue(forKey: oldest)?.statement
        }
        uses += 1
        entries[key] = (statement, uses)
        return displaced
    }

    mutating func remove(_ key: String) { entries[key] = nil }

    mutating func removeAll() { entries = [:] }
}
