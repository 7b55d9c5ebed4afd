import Runtime

typealias RedisAnswer = Result<RedisValue, CacheError>

/// A command that somebody waits for.
///
/// It is answered exactly once.
struct PendingCommand {
    let command: RedisCommand
    let start: Double
    /// How long Redis may be silent, in seconds.
    let patience: Double
    let answer: @Sendable (RedisAnswer) -> Void
}

/// What the callers and the connection's thread share.
final class CommandQueue: Sendable {
    /// The most commands that wait, be it to be sent or to be answered.
    static let limit = 8192
    /// The most bytes that these have together.
    static let byteLimit = 64 << 20

    private struct State {
        var waiting: [PendingCommand] = []
        var unanswered = 0
        var unansweredBytes = 0
        var isConnected = false
        var isClosing = false
        var hasEnded = false
        var lastError: CacheError?
        var onEnd: [CheckedContinuation<Void, Never>] = []
    }

    let wakeup = Wakeup()
    private let state = Locked(State())

    var isConnected: Bool { state.withLock { $0.isConnected } }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Why there is no connection.
    var lastError: CacheError? { state.withLock { $0.lastError } }

    /// Takes a command, or says why not.
    func add(_ command: PendingCommand) -> CacheError? {
        var isFirst = false
        let refusal: CacheError? = state.withLock { state in
            if state.isClosing { return CacheError.closed }
            guard state.isConnected else {
                return CacheError(
                    .notConnected, state.lastError.map { "not connected: \($0.words)" } ?? "not connected yet")
            }
            guard state.unanswered < Self.limit else {
                return CacheError(.tooMuch, "more than \(Self.limit) commands wait")
            }
            guard state.unansweredBytes + command.command.bytes.count <= Self.byteLimit else {
                return CacheError(.tooMuch, "the commands that wait have more than \(Self.byteLimit) bytes")
            }
            state.unanswered += 1
            state.unansweredBytes += command.command.bytes.count
            // The thread knows of those before it, and takes all at once.
            isFirst = state.waiting.isEmpty
            state.waiting.append(command)
            return nil
        }
        if isFirst { wakeup.signal() }
        return refusal
    }

    /// All commands that came since the last call.
    func take() -> [PendingCommand] {
        state.withLock { state in
            defer { state.waiting.removeAll() }
            return state.waiting
        }
    }

    func answered(_ count: Int, bytes: Int) {
        state.withLock { state in
            state.unanswered -= count
            state.unansweredBytes -= bytes
        }
    }

    func connected() { state.withLock { $0.isConnected = true } }

    /// From now on commands are refused; gives back those that were not sent.
    func disconnected(_ error: CacheError) -> [PendingCommand] {
        state.withLock { state in
            state.isConnected = false
            state.lastError = error
            state.unanswered = 0
            state.unansweredBytes = 0
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    func close() {
        state.withLock { $0.isClosing = true }
        wakeup.signal()
    }

    /// Waits for the thread's end.
    func waitForEnd() async {
        await withCheckedContinuation { waiter in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.onEnd.append(waiter) }
                return state.hasEnded
            }
            if hasEnded { waiter.resume() }
        }
    }

    func ended() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.onEnd = [] }
            return state.onEnd
        }
        for waiter in waiters { waiter.resume() }
    }
}
