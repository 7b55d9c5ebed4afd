import CPostgreSQL
import Runtime

/// The only type that holds a `PGresult *`.
@safe final class PostgresResult {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe PQclear(pointer) }

    var isCopy: Bool {
        let status = unsafe PQresultStatus(pointer)
        return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH
    }

    /// Such as `COMMIT`, or `ROLLBACK` where a commit was asked for and could not be had.
    var command: String { unsafe String(cString: PQcmdStatus(pointer)) }

    /// What the server refused, if it did.
    func failure(_ operation: DatabaseError.Operation) -> DatabaseError? {
        switch unsafe PQresultStatus(pointer) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return nil
        default: break
        }
        guard let state = unsafe isthmus_pq_sqlstate(pointer) else {
            // libpq's own error: the connection broke.
            return DatabaseError.lost(operation, code: "lost", "the connection to the server broke")
        }
        let code = unsafe String(cString: state)
        var words = unsafe isthmus_pq_primary_message(pointer).map { unsafe String(cString: $0) } ?? ""
        // Class 22, data exceptions: the server's words quote the value.
        if code.hasPrefix("22") { words = "a value does not have the form that its place asks for" }
        // After these the server ends the connection, whether or not that has been seen yet.
        let severity = unsafe isthmus_pq_severity(pointer).map { unsafe String(cString: $0) }
        if severity == "FATAL" || severity == "PANIC" { return DatabaseError.lost(operation, code: code, words) }
        var error = DatabaseError(operation, code: code, words)
        error.isUniqueViolation = code == "23505"
        error.asksToRunAgain = code == "40001" || code == "40P01"
        // Classes 08 connection, but not its protocol violation: that is a wrong number of values; 40 rolled back;
        // 53 resources; 55 object state, lock_timeout; 57 intervention; 58 input and output.
        let classes = ["08", "40", "53", "55", "57", "58"]
        error.isRetryable = code != "08P01" && classes.contains { code.hasPrefix($0) }
        return error
    }

    var statementResult: StatementResult {
        get throws(DatabaseError) {
            var result = StatementResult()
            let isChange = ["INSERT", "UPDATE", "DELETE", "MERGE"].contains { command.hasPrefix($0) }
            if isChange { unsafe result.changes = Int(String(cString: PQcmdTuples(pointer))) ?? 0 }
            let count = unsafe PQntuples(pointer)
            guard count > 0 else { return result }
            guard count <= Row.limit else { throw DatabaseError.tooManyRows() }
            var columns: [String: Int] = [:]
            let width = unsafe PQnfields(pointer)
            for column in 0..<width {
                guard let name = unsafe PQfname(pointer, column) else { continue }
                unsafe columns[String(cString: name)] = Int(column)
            }
            result.rows = (0..<count).map { row in
                Row(columns: columns, values: (0..<width).map { value(row, $0) })
            }
            return result
        }
    }

    private func value(_ row: Int32, _ column: Int32) -> DatabaseValue {
        guard unsafe PQgetisnull(pointer, row, column) == 0 else { return .null }
        let start = unsafe PQgetvalue(pointer, row, column)
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(pointer, row, column)))
        let text = unsafe String(decoding: bytes, as: UTF8.self)
        // Type numbers of PostgreSQL's catalogue, pg_type.dat.
        switch unsafe PQftype(pointer, column) {
        case 16: return .bool(text == "t")
        case 17: return [UInt8](hex: text.dropFirst(2)).map(DatabaseValue.blob) ?? .text(text)
        case 20, 21, 23, 26: return Int64(text).map(DatabaseValue.integer) ?? .text(text)
        case 700, 701: return Double(text).map(DatabaseValue.real) ?? .text(text)
        case 1700: return Int64(text).map(DatabaseValue.integer) ?? Double(text).map(DatabaseValue.real) ?? .text(text)
        default: return .text(text)
        }
    }
}
