import Runtime

/// Gathers single requests into batches: while one batch is being worked, the next one fills.
///
/// One commit for many users costs about as much as one for one; nobody waits for a timer.
final class Batcher<Request: Sendable, Answer: Sendable>: Sendable {
    private struct Waiting {
        let request: Request
        let continuation: CheckedContinuation<Answer, any Error>
    }

    private struct State {
        var waiting: [Waiting] = []
        var isWorking = false
    }

    private let limit: Int
    private let work: @Sendable ([Request]) async throws -> [Answer]
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: The most requests in one batch.
    ///   - work: Answers each request, in their order; what it throws, every request of the batch throws.
    init(limit: Int = 500, work: @escaping @Sendable ([Request]) async throws -> [Answer]) {
        self.limit = limit
        self.work = work
    }

    func submit(_ request: Request) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            let starts = state.withLock { state in
                state.waiting.append(Waiting(request: request, continuation: continuation))
                guard !state.isWorking else { return false }
                state.isWorking = true
                return true
            }
            // Owned by the requests that wait: it ends when none does. It works for many traces, and so for none.
            if starts { Trace.$current.withValue(nil) { _ = Task { await self.run() } } }
        }
    }

    private func run() async {
        while true {
            let batch = state.withLock { state in
                let batch = Array(state.waiting.prefix(limit))
                state.waiting.removeFirst(batch.count)
                if batch.isEmpty { state.isWorking = false }
                return batch
            }
            guard !batch.isEmpty else { return }
            do {
                let answers = try await work(batch.map(\.request))
                for (waiting, answer) in zip(batch, answers) { waiting.continuation.resume(returning: answer) }
            } catch {
                for waiting in batch { waiting.continuation.resume(throwing: error) }
            }
        }
    }
}
