@unsafe @preconcurrency import Dispatch
import Runtime

/// Lends its workers to one transaction each, in the order in which they were asked for.
final class WorkerPool: Sendable {
    private typealias Waiter = CheckedContinuation<SessionWorker, any Error>

    private struct State {
        var idle: [SessionWorker]
        var waiting: [(since: Double, waiter: Waiter)] = []
        var isTimerSet = false
        var isClosed = false
    }

    private enum Action {
        case lend(SessionWorker), refuse(DatabaseError), setTimer, wait
    }

    private let workers: [SessionWorker]
    private let limits: DatabaseLimits
    private let state: Locked<State>
    private let timerQueue = DispatchQueue(label: "database waiting")

    init(_ workers: [SessionWorker], _ limits: DatabaseLimits) {
        self.workers = workers
        self.limits = limits
        state = Locked(State(idle: workers))
    }

    func withWorker<Result: Sendable>(
        _ body: (SessionWorker) async throws -> Result
    ) async throws -> Result {
        let worker = try await borrow()
        defer { giveBack(worker) }
        return try await body(worker)
    }

    /// Refuses who waits and who comes, and waits for the transactions in progress.
    func close() async {
        let refused = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting.map(\.waiter)
        }
        for waiter in refused { waiter.resume(throwing: DatabaseError.closed()) }
        for worker in workers { await worker.close() }
    }

    private func borrow() async throws -> SessionWorker {
        try await withCheckedThrowingContinuation { waiter in
            switch state.withLock({ admit(waiter, &$0) }) {
            case .lend(let worker): waiter.resume(returning: worker)
            case .refuse(let error): waiter.resume(throwing: error)
            case .setTimer: setTimer(after: limits.waitTimeout.seconds)
            case .wait: break
            }
        }
    }

    private func admit(_ waiter: Waiter, _ state: inout State) -> Action {
        if state.isClosed { return .refuse(DatabaseError.closed()) }
        if let worker = state.idle.popLast() { return .lend(worker) }
        guard state.waiting.count < limits.maxWaiting else {
            return .refuse(Self.busy("more than \(limits.maxWaiting) transactions wait for a connection"))
        }
        state.waiting.append((monotonicSeconds(), waiter))
        guard !state.isTimerSet else { return .wait }
        state.isTimerSet = true
        return .setTimer
    }

    private func giveBack(_ worker: SessionWorker) {
        let next: Waiter? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().waiter }
            state.idle.append(worker)
            return nil
        }
        next?.resume(returning: worker)
    }

    /// One timer serves all: they wait equally long, so the first in the line is the first whose time is over.
    private func setTimer(after seconds: Double) {
        timerQueue.asyncAfter(deadline: .now() + seconds) { [weak self] in self?.refuseOverdue() }
    }

    private func refuseOverdue() {
        let now = monotonicSeconds()
        let patience = limits.waitTimeout.seconds
        let (overdue, rest): ([Waiter], Double?) = state.withLock { state in
            let count = state.waiting.prefix { now - $0.since >= patience }.count
            let overdue = state.waiting.prefix(count).map(\.waiter)
            state.waiting.removeFirst(count)
            let rest = state.waiting.first.map { patience - (now - $0.since) }
            state.isTimerSet = rest != nil
            return (overdue, rest)
        }
        for waiter in overdue { waiter.resume(throwing: Self.busy("no connection was free in time")) }
        if let rest { setTimer(after: rest) }
    }

    private static func busy(_ words: String) -> DatabaseError {
        var error = DatabaseError(.wait, code: "busy", words)
        error.isRetryable = true
        return error
    }
}
