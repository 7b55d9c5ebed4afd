import Runtime

/// Spaces out the attempts to reach a server that is away; between them, requests fail at once.
final class ReconnectGate: Sendable {
    private struct State {
        var failures = 0
        var nextAttempt = 0.0
        var lastError: DatabaseError?
    }

    private let state = Locked(State())
    private let backoff = Backoff(base: .milliseconds(100), cap: .seconds(2))
    private let log: Log

    init(log: Log) { self.log = log }

    /// Throws the last attempt's error until it is time for another.
    func enter() throws(DatabaseError) {
        try state.withLock { (state) throws(DatabaseError) in
            if let error = state.lastError, monotonicSeconds() < state.nextAttempt { throw error }
        }
    }

    func opened() {
        let failures = state.withLock { state in
            defer { state = State() }
            return state.failures
        }
        if failures > 0 { log.info("database reached again", ["failures": "\(failures)"]) }
    }

    func failed(_ error: DatabaseError) {
        let failures = state.withLock { state in
            state.failures += 1
            state.nextAttempt = monotonicSeconds() + backoff.delay(after: state.failures).seconds
            state.lastError = error
            return state.failures
        }
        log.warning("database not reached", ["failures": "\(failures)", "error": "\(error)"])
    }
}
