import CSQLite
import Glibc
import Runtime

/// A connection to a SQLite file: write-ahead log, every commit on the disk before it returns, foreign keys enforced.
@safe final class SQLiteSession: Session {
    /// How long to wait for another process that holds the file's write lock.
    private static let busyTimeout: Duration = .seconds(5)
    /// How long the log may stay after a checkpoint, in bytes.
    private static let logLimit = 64 << 20

    let dialect = Database.Dialect.sqlite
    private(set) var isUsable = true
    private let handle: SQLiteHandle
    private var statements = StatementCache<SQLiteStatement>()

    /// Opens the file, or makes it, readable by its owner alone.
    init(path: String, isReader: Bool) throws(DatabaseError) {
        // Not `open`: closing a descriptor of a database file drops the locks that this process has on it. Where this
        // fails the file is there already, or SQLite will say what is wrong.
        _ = unsafe mknod(path, S_IFREG | S_IRUSR | S_IWUSR, 0)
        handle = try SQLiteHandle(path: path)
        unsafe sqlite3_busy_timeout(handle.pointer, Int32(Self.busyTimeout.milliseconds))
        try useWriteAheadLog()
        try runScript(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = \(Self.logLimit);"
                + (isReader ? "PRAGMA query_only = ON;" : ""))
    }

    /// Two processes that change a new file's mode at the same time do not wait for each other by themselves.
    private func useWriteAheadLog() throws(DatabaseError) {
        let deadline = monotonicSeconds() + Self.busyTimeout.seconds
        while true {
            do throws(DatabaseError) {
                let mode = try run("PRAGMA journal_mode = WAL", []).rows.first?[0]
                guard mode == .text("wal") else {
                    throw DatabaseError(.open, code: "wal", "the file system does not take a write-ahead log")
                }
                return
            } catch {
                guard error.isRetryable, monotonicSeconds() < deadline else { throw error }
                usleep(20_000)
            }
        }
    }

    func begin(_ mode: TransactionMode) throws(DatabaseError) {
        try execute(mode == .read ? "BEGIN" : "BEGIN IMMEDIATE", .begin)
    }

    func run(_ sql: String, _ values: [DatabaseValue]) throws(DatabaseError) -> StatementResult {
        if let statement = statements.find(sql) { return try unsafe statement.run(values, on: handle.pointer) }
        let statement = try unsafe SQLiteStatement(handle.pointer, sql)
        _ = statements.insert(statement, for: sql)
        return try unsafe statement.run(values, on: handle.pointer)
    }

    func runScript(_ sql: String) throws(DatabaseError) { try execute(sql, .run) }

    func commit() throws(DatabaseError) {
        do {
            try execute("COMMIT", .commit)
        } catch {
            rollBack()
            throw error
        }
    }

    func rollBack() {
        // SQLite has rolled back by itself after some errors, a full disk among them.
        guard unsafe sqlite3_get_autocommit(handle.pointer) == 0 else { return }
        do { try execute("ROLLBACK", .run) } catch { isUsable = false }
    }

    private func execute(_ sql: String, _ operation: DatabaseError.Operation) throws(DatabaseError) {
        let code = unsafe sqlite3_exec(handle.pointer, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe Self.failure(operation, code, handle.pointer) }
    }

    /// The error of the call that has just returned `code`.
    static func failure(
        _ operation: DatabaseError.Operation, _ code: Int32, _ database: OpaquePointer?
    ) -> DatabaseError {
        let words = unsafe String(cString: database == nil ? sqlite3_errstr(code) : sqlite3_errmsg(database))
        var error = DatabaseError(operation, code: "\(code)", words)
        let primary = code & 0xFF
        error.isRetryable = [SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_IOERR, SQLITE_NOMEM].contains(primary)
        error.isUniqueViolation = [2067, 1555, 2579].contains(code)  // SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY, _ROWID
        error.isOutcomeUnknown = operation == .commit && primary == SQLITE_IOERR
        return error
    }
}

/// The only type that holds a `sqlite3 *`.
///
/// It cannot be copied, so it is closed exactly once.
@safe struct SQLiteHandle: ~Copyable {
    fileprivate let pointer: OpaquePointer

    init(path: String) throws(DatabaseError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            let words = unsafe SQLiteSession.failure(.open, code, opened).words
            let cause = unsafe String(cString: strerror(sqlite3_system_errno(opened)))
            unsafe sqlite3_close_v2(opened)  // There is a handle even when opening fails.
            throw DatabaseError(.open, code: "\(code)", "cannot open \(path): \(words): \(cause)")
        }
        unsafe pointer = opened
    }

    // This form closes once the statements are gone, in whatever order the owner's parts end.
    deinit { unsafe sqlite3_close_v2(pointer) }
}
