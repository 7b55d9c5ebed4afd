import Runtime

/// Where sessions come from.
enum SessionSource: Sendable {
    case sqlite(path: String, isReader: Bool)
    case postgres(PostgresParameters, DatabaseLimits, certificateNotAfter: Gauge)

    func open() throws(DatabaseError) -> any Session {
        switch self {
        case .sqlite(let path, let isReader): return try SQLiteSession(path: path, isReader: isReader)
        case .postgres(let parameters, let limits, let certificateNotAfter):
            let session = try PostgresSession(parameters, limits)
            if let notAfter = session.certificateNotAfter { certificateNotAfter.set(Int(notAfter)) }
            return session
        }
    }
}

/// Owns one session on a thread of its own, and opens a new one when it was lost.
actor SessionWorker {
    private let thread: SerialThread
    private let source: SessionSource
    private let gate: ReconnectGate
    private var session: (any Session)?
    private var isClosed = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    init(_ source: SessionSource, _ gate: ReconnectGate, label: String) {
        thread = SerialThread(label: label)
        self.source = source
        self.gate = gate
    }

    /// Opens the session ahead of the first transaction.
    func open() throws(DatabaseError) { if session == nil { _ = try opened() } }

    /// Waits for the transaction in progress, then closes the session for good.
    func close() {
        isClosed = true
        session = nil
    }

    /// Runs one transaction from begin to commit, or to rollback when `body` throws.
    func perform<Result: Sendable>(
        _ mode: TransactionMode, _ body: @Sendable (Transaction) throws -> Result
    ) throws -> Result {
        let session = try begun(mode)
        defer { if !session.isUsable { self.session = nil } }
        let transaction = Transaction(session)
        do {
            let result = try body(transaction)
            try transaction.commit()
            return result
        } catch {
            transaction.rollBack()
            if let failure = transaction.failure, failure.asksToRunAgain { throw failure }
            throw error
        }
    }

    private func begun(_ mode: TransactionMode) throws(DatabaseError) -> any Session {
        guard !isClosed else { throw DatabaseError.closed() }
        if let session {
            do {
                try begin(mode, on: session)
                return session
            } catch {
                // A connection that broke while idle is replaced at once; a server that hangs is not asked twice.
                guard error.isConnectionLoss, error.code != "timeout" else { throw error }
            }
        }
        let session = try opened()
        try begin(mode, on: session)
        return session
    }

    private func begin(_ mode: TransactionMode, on session: any Session) throws(DatabaseError) {
        do {
            try session.begin(mode)
        } catch {
            session.rollBack()  // It may have begun and failed thereafter.
            if !session.isUsable { self.session = nil }
            throw error
        }
    }

    private func opened() throws(DatabaseError) -> any Session {
        guard !isClosed else { throw DatabaseError.closed() }
        try gate.enter()
        do {
            let session = try source.open()
            self.session = session
            gate.opened()
            return session
        } catch {
            gate.failed(error)
            throw error
        }
    }
}
