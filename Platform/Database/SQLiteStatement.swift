import CSQLite

/// The only type that holds a `sqlite3_stmt *`.
///
/// Used on the thread of its connection.
@safe final class SQLiteStatement {
    private let pointer: OpaquePointer
    private var columns: [String: Int] = [:]
    private var preparations: Int32 = 0

    /// Prepares the one statement in `sql`.
    init(_ database: OpaquePointer, _ sql: String) throws(DatabaseError) {
        var prepared: OpaquePointer?
        var isWhole = true
        var text = sql
        let code = text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                var tail: UnsafePointer<CChar>?
                let count = Int32(clamping: characters.count)
                let code = unsafe sqlite3_prepare_v3(
                    database, characters.baseAddress, count, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, &tail)
                if let start = characters.baseAddress, let tail = unsafe tail {
                    isWhole = unsafe characters[(tail - start)...].allSatisfy { $0 == 0x20 || $0 == 0x0A }
                }
                return code
            }
        }
        guard code == SQLITE_OK else { throw unsafe SQLiteSession.failure(.prepare, code, database) }
        guard let prepared = unsafe prepared else {
            throw DatabaseError(.prepare, code: "empty", "there is no statement in the text")
        }
        unsafe pointer = prepared
        readColumns()
        guard isWhole else { throw DatabaseError(.prepare, code: "several", "more than one statement in the text") }
    }

    // The code it returns is that of the last step, which was looked at then.
    deinit { unsafe sqlite3_finalize(pointer) }

    /// Runs the statement to its end.
    func run(_ values: [DatabaseValue], on database: OpaquePointer) throws(DatabaseError) -> StatementResult {
        defer {
            // Both only repeat the code of the last step.
            unsafe sqlite3_reset(pointer)
            unsafe sqlite3_clear_bindings(pointer)
        }
        try unsafe bind(values, database)
        var result = StatementResult()
        while true {
            let code = unsafe sqlite3_step(pointer)
            if code == SQLITE_DONE { break }
            guard code == SQLITE_ROW else { throw unsafe SQLiteSession.failure(.run, code, database) }
            if result.rows.isEmpty { refreshColumns() }
            guard result.rows.count < Row.limit else { throw DatabaseError.tooManyRows() }
            result.rows.append(Row(columns: columns, values: currentRow()))
        }
        if unsafe sqlite3_stmt_readonly(pointer) == 0 { unsafe result.changes = Int(sqlite3_changes64(database)) }
        return result
    }

    /// SQLite prepares a statement anew by itself when a table was altered; then it may have other columns.
    private func refreshColumns() {
        let count = unsafe sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
        guard count != preparations else { return }
        preparations = count
        readColumns()
    }

    private func readColumns() {
        columns = [:]
        for index in unsafe 0..<sqlite3_column_count(pointer) {
            guard let name = unsafe sqlite3_column_name(pointer, index) else { continue }
            unsafe columns[String(cString: name)] = Int(index)
        }
    }

    private func bind(_ values: [DatabaseValue], _ database: OpaquePointer) throws(DatabaseError) {
        guard unsafe Int(sqlite3_bind_parameter_count(pointer)) == values.count else {
            throw DatabaseError(.run, code: "values", "there are not as many values as placeholders")
        }
        for (offset, value) in values.enumerated() {
            let index = unsafe sqlite3_bind_parameter_index(pointer, "$\(offset + 1)")
            guard index > 0 else {
                throw DatabaseError(.run, code: "values", "the statement has no placeholder $\(offset + 1)")
            }
            let code = try bind(value, at: index)
            guard code == SQLITE_OK else { throw unsafe SQLiteSession.failure(.run, code, database) }
        }
    }

    private func bind(_ value: DatabaseValue, at index: Int32) throws(DatabaseError) -> Int32 {
        switch value {
        case .null: return unsafe sqlite3_bind_null(pointer, index)
        case .integer(let integer): return unsafe sqlite3_bind_int64(pointer, index, integer)
        case .real(let real): return unsafe sqlite3_bind_double(pointer, index, real)
        case .text(var text):
            guard !text.utf8.contains(0) else { throw DatabaseError.textWithNUL() }
            return text.withUTF8 { bytes in
                // Empty bytes may have no address, which would be bound as null.
                guard let start = bytes.baseAddress else {
                    return unsafe isthmus_sqlite_bind_text(pointer, index, "", 0)
                }
                return unsafe isthmus_sqlite_bind_text(pointer, index, start, UInt64(bytes.count))
            }
        case .blob(let blob):
            guard !blob.isEmpty else { return unsafe sqlite3_bind_zeroblob(pointer, index, 0) }
            return unsafe isthmus_sqlite_bind_blob(pointer, index, blob, UInt64(blob.count))
        }
    }

    private func currentRow() -> [DatabaseValue] {
        (unsafe 0..<sqlite3_column_count(pointer)).map { index in
            switch unsafe sqlite3_column_type(pointer, index) {
            case SQLITE_INTEGER: unsafe .integer(sqlite3_column_int64(pointer, index))
            case SQLITE_FLOAT: unsafe .real(sqlite3_column_double(pointer, index))
            case SQLITE_TEXT:
                unsafe .text(String(decoding: bytes(at: index, sqlite3_column_text(pointer, index)), as: UTF8.self))
            case SQLITE_BLOB: unsafe .blob(Array(bytes(at: index, sqlite3_column_blob(pointer, index))))
            default: .null
            }
        }
    }

    /// The column's bytes, which belong to the library until its next call; `start` has been read before their count.
    private func bytes(at index: Int32, _ start: UnsafeRawPointer?) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(pointer, index)))
    }
}
