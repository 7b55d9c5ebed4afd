import CPostgreSQL
import Crypto
import Glibc
import Runtime

/// The only type that holds a `PGconn *`.
///
/// It cannot be copied, so it is closed exactly once.
///
/// Requests are sent without blocking and waited for until a deadline: a server that hangs cannot hold the thread.
@safe struct PostgresConnection: ~Copyable {
    // Optional, since out of memory libpq gives none; its functions take that for a broken connection.
    private let pointer: OpaquePointer?

    init(_ parameters: PostgresParameters) throws(DatabaseError) {
        unsafe pointer = Self.withCStrings(parameters.keywords) { keywords in
            unsafe Self.withCStrings(parameters.values) { values in unsafe PQconnectdbParams(keywords, values, 0) }
        }
        guard isUsable, unsafe PQsetnonblocking(pointer, 1) == 0 else {
            throw DatabaseError.lost(.connect, code: "connect", lastWords)
        }
        unsafe isthmus_pq_drop_notices(pointer)
    }

    // Without blocking: if the goodbye does not fit into the socket, it is not sent.
    deinit { unsafe PQfinish(pointer) }

    var isUsable: Bool { unsafe PQstatus(pointer) == CONNECTION_OK }

    /// Until when the server's certificate holds, in seconds since 1970; `nil` without TLS.
    var certificateNotAfter: Int64? {
        guard let connection = unsafe PQsslStruct(pointer, "OpenSSL") else { return nil }
        return unsafe PeerCertificate.notAfter(connection: OpaquePointer(connection))
    }

    /// Runs statements that take no values.
    func execute(
        _ sql: String, _ operation: DatabaseError.Operation, until deadline: Double
    ) throws(DatabaseError) -> PostgresResult {
        try sent(unsafe PQsendQuery(pointer, sql), operation)
        return try result(operation, until: deadline)
    }

    func prepare(_ sql: String, named name: String, types: [Oid], until deadline: Double) throws(DatabaseError) {
        try sent(unsafe PQsendPrepare(pointer, name, sql, Int32(types.count), types), .prepare)
        _ = try result(.prepare, until: deadline)
    }

    func execute(
        prepared name: String, _ values: PostgresValues, until deadline: Double
    ) throws(DatabaseError) -> PostgresResult {
        let isSent = unsafe values.withPointers { pointers, lengths, formats in
            unsafe PQsendQueryPrepared(pointer, name, Int32(lengths.count), pointers, lengths, formats, 0)
        }
        try sent(isSent, .run)
        return try result(.run, until: deadline)
    }

    private func sent(_ isSent: Int32, _ operation: DatabaseError.Operation) throws(DatabaseError) {
        guard isSent == 1 else { throw unsent(operation) }
    }

    /// A request that libpq refused to send: the connection is gone, or there is something wrong with the request.
    private func unsent(_ operation: DatabaseError.Operation) -> DatabaseError {
        guard isUsable else {
            var error = DatabaseError.lost(operation, code: "lost", lastWords)
            error.isOutcomeUnknown = false
            return error
        }
        return DatabaseError(operation, code: "send", lastWords)
    }

    /// The answer to the request just sent.
    ///
    /// Of several statements the last one's, or the one that failed.
    private func result(
        _ operation: DatabaseError.Operation, until deadline: Double
    ) throws(DatabaseError) -> PostgresResult {
        try flush(operation, until: deadline)
        var last: PostgresResult?
        while true {
            while unsafe PQisBusy(pointer) == 1 { try receive(operation, until: deadline) }
            guard let next = unsafe PQgetResult(pointer) else { break }
            let result = unsafe PostgresResult(next)
            // Copying rows in or out is not spoken here; the loop would never end.
            guard !result.isCopy else { throw DatabaseError.lost(operation, code: "copy", "COPY cannot be used") }
            if last?.failure(operation) == nil { last = result }
        }
        guard let last else { throw DatabaseError.lost(operation, code: "lost", lastWords) }
        if let failure = last.failure(operation) {
            guard isUsable else { throw DatabaseError.lost(operation, code: failure.code, failure.words) }
            throw failure
        }
        return last
    }

    private func flush(_ operation: DatabaseError.Operation, until deadline: Double) throws(DatabaseError) {
        while true {
            let pending = unsafe PQflush(pointer)
            if pending == 0 { return }
            guard pending == 1 else { throw DatabaseError.lost(operation, code: "lost", lastWords) }
            // The server may itself be waiting for us to read.
            if try wait(POLLIN | POLLOUT, operation, until: deadline) & Int16(POLLIN) != 0 { try consume(operation) }
        }
    }

    private func receive(_ operation: DatabaseError.Operation, until deadline: Double) throws(DatabaseError) {
        _ = try wait(POLLIN, operation, until: deadline)
        try consume(operation)
    }

    private func consume(_ operation: DatabaseError.Operation) throws(DatabaseError) {
        guard unsafe PQconsumeInput(pointer) == 1 else {
            throw DatabaseError.lost(operation, code: "lost", lastWords)
        }
    }

    private func wait(
        _ events: Int32, _ operation: DatabaseError.Operation, until deadline: Double
    ) throws(DatabaseError) -> Int16 {
        while true {
            var descriptor = unsafe pollfd(fd: PQsocket(pointer), events: Int16(events), revents: 0)
            let rest = max(0, min((deadline - monotonicSeconds()) * 1000, 3_600_000)).rounded(.up)
            let count = unsafe poll(&descriptor, 1, Int32(rest))
            if count > 0 { return descriptor.revents }
            if count < 0, errno == EINTR { continue }
            throw DatabaseError.lost(operation, code: "timeout", "the server did not answer in time")
        }
    }

    /// libpq's words on what went wrong last, in one line.
    ///
    /// They never hold the password.
    private var lastWords: String {
        unsafe String(cString: PQerrorMessage(pointer)).split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let bytes = texts.flatMap { Array($0.utf8CString) }
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            var offset = 0
            for text in texts {
                unsafe pointers.append(bytes.baseAddress.map { unsafe $0 + offset })
                offset += text.utf8.count + 1
            }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { pointers in
                guard let start = pointers.baseAddress else { preconditionFailure("an array that was just filled") }
                return unsafe body(start)
            }
        }
    }
}
