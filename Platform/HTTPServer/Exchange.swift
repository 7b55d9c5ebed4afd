import CMicroHTTPD
import Runtime

/// One request and its answer.
///
/// Sendable is right although unchecked: `progress` is used by the connection's own thread of the library alone, in
/// its callbacks; everything that other threads reach is behind the lock.
final class Exchange: @unchecked Sendable {
    enum Answer: Sendable {
        case response(HTTPResponse)
        case stream(HTTPBodyStream, status: Int, headers: [(name: String, value: String)])
        /// The connection ends without an answer.
        case abort
    }

    /// What the library's thread knows of the request while it comes in.
    struct Progress {
        enum Step { case fresh, reading, dispatched, answered }

        var step = Step.fresh
        var method = ""
        var target: RequestTarget?
        var fields = HeaderFields()
        var body: [UInt8] = []
        var startedAt = 0.0
        var isCounted = false
    }

    @safe private struct State {
        var answer: Answer?
        /// The connection, while it is suspended; it is valid exactly as long.
        var suspended: OpaquePointer?
        var isOver = false
    }

    let connection: Connection
    let rawTarget: String
    var progress = Progress()
    private let state = Locked(State())

    init(connection: Connection, rawTarget: String) {
        self.connection = connection
        self.rawTarget = rawTarget
    }

    /// Whether there is an answer, or nobody left to have one.
    var isAnswered: Bool { state.withLock { $0.answer != nil || $0.isOver } }

    /// Takes the first answer and wakes the connection; false if there was one before or the request is over.
    @discardableResult
    func answer(_ answer: Answer) -> Bool {
        state.withLock { state in
            guard state.answer == nil, !state.isOver else { return false }
            state.answer = answer
            Self.resume(&state)
            return true
        }
    }

    /// Ends the exchange and whatever stream it has become.
    func abort() {
        guard !answer(.abort) else { return }
        if case .stream(let stream, _, _) = state.withLock({ $0.answer }) { stream.abort() }
    }

    /// The answer if there is one already; else suspends the connection until there is.
    ///
    /// Both under one lock: a resume that overtook its suspend would be lost.
    func answerOrSuspend(_ handle: OpaquePointer, unless isClosing: () -> Bool) -> Answer? {
        state.withLock { state in
            if let answer = state.answer { return answer }
            if isClosing() {
                state.answer = .abort
                return .abort
            }
            unsafe MHD_suspend_connection(handle)
            unsafe state.suspended = handle
            return nil
        }
    }

    /// The library is done with the request, in whatever way.
    func finish() {
        let answer = state.withLock { state in
            state.isOver = true
            unsafe state.suspended = nil
            return state.answer
        }
        if case .stream(let stream, _, _) = answer { stream.finish() }
    }

    private static func resume(_ state: inout State) {
        guard let handle = unsafe state.suspended else { return }
        unsafe state.suspended = nil
        unsafe MHD_resume_connection(handle)
    }
}
