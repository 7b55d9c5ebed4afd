import Foundation
import Runtime
import Shared

/// Writes many texts of many people through the stack, and measures what comes back.
final class Load: Sendable {
    static let mostUsers = 100_000
    static let mostConcurrency = 2000

    struct Request: Sendable, Decodable {
        let users: Int
        /// In all; shared out among the users.
        let texts: Int
        /// Texts at once; of one user there is never more than one.
        var concurrency: Int?
        /// Texts a second; as fast as they are taken if it is not said.
        var rate: Double?
        /// "{n}" stands for the number of the text among its user's.
        var text: String?
        /// The number of the first user; the others follow it.
        var firstUser: Int?

        var problem: String? {
            if !(1...Load.mostUsers).contains(users) { return "users must be 1 to \(Load.mostUsers)" }
            if texts < 1 { return "texts must be 1 or more" }
            if let concurrency, !(1...Load.mostConcurrency).contains(concurrency) {
                return "concurrency must be 1 to \(Load.mostConcurrency)"
            }
            if let rate, rate <= 0 { return "rate must be more than 0" }
            return nil
        }
    }

    struct Progress: Sendable, Encodable {
        var phase = "idle"
        var users = 0
        var texts = 0
        var posted = 0
        var taken = 0
        var failed = 0
        var seconds = 0.0
        var error: String?
    }

    private struct State {
        var progress = Progress()
        var task: Task<Void, Never>?
    }

    private let world: World
    private let state = Locked(State())

    init(_ world: World) { self.world = world }

    var progress: Progress { state.withLock { $0.progress } }

    /// Begins a run; false if one is under way.
    func start(_ request: Request) -> Bool {
        state.withLock { state in
            guard state.task == nil else { return false }
            state.progress = Progress(phase: "onboarding", users: request.users, texts: request.texts)
            // Owned by this object: it ends by itself, and `close()` cancels it.
            state.task = Task {
                await self.run(request)
                self.state.withLock { $0.task = nil }
            }
            return true
        }
    }

    private func run(_ request: Request) async {
        let handles = (0..<request.users).map { Self.handle(number: (request.firstUser ?? 0) + $0) }
        do {
            if world.onboards {
                try await eachConcurrently(handles, limit: 32) { try await self.world.onboard($0) }
            }
        } catch {
            return finish(error: "onboarding: \(error)")
        }
        state.withLock { $0.progress.phase = "posting" }
        let start = ContinuousClock.now
        let lanes = min(request.concurrency ?? 64, request.users)
        let pace = request.rate.map { Pace(perSecond: $0, from: start) }
        await withTaskGroup { group in
            for lane in 0..<lanes {
                group.addTask { await self.drive(lane: lane, of: lanes, handles, request, pace) }
            }
        }
        state.withLock { $0.progress.seconds = (ContinuousClock.now - start).seconds }
        finish(error: nil)
    }

    /// Writes the texts of every user whose number falls into this lane, round and round.
    private func drive(lane: Int, of lanes: Int, _ handles: [String], _ request: Request, _ pace: Pace?) async {
        let template = request.text ?? "snack {n}, ~10 cal"
        // Users are dealt to lanes so that one user's texts are all in one lane, in order.
        let mine = stride(from: lane, to: handles.count, by: lanes).map { handles[$0] }
        for (turn, number) in stride(from: lane, to: request.texts, by: lanes).enumerated() {
            guard !Task.isCancelled else { return }
            if let pace { await pace.wait(for: number) }
            let text = template.replacingOccurrences(of: "{n}", with: "\(turn / mine.count + 1)")
            state.withLock { $0.progress.posted += 1 }
            let (_, delivery) = await world.linq.postAndWait(InboundText(from: mine[turn % mine.count], text: text))
            state.withLock { state in
                if delivery?.outcome == "taken" { state.progress.taken += 1 } else { state.progress.failed += 1 }
            }
        }
    }

    private func finish(error: String?) {
        state.withLock { state in
            state.progress.phase = error == nil ? "done" : "failed"
            state.progress.error = error
        }
    }

    /// Numbers of the range that is kept for fiction.
    static func handle(number: Int) -> String {
        let digits = String(number)
        return "+1999" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    }

    func close() async {
        guard let task = state.withLock({ $0.task }) else { return }
        task.cancel()
        await task.value
    }
}

/// Text number n goes out n intervals after the start.
private struct Pace: Sendable {
    let interval: Duration
    let start: ContinuousClock.Instant

    init(perSecond: Double, from start: ContinuousClock.Instant) {
        interval = .seconds(1 / perSecond)
        self.start = start
    }

    func wait(for number: Int) async {
        // Cancelled: the run ends.
        try? await Task.sleep(until: start + interval * number)
    }
}

/// Runs `body` for all elements, at most `limit` at a time; the first error ends it.
func eachConcurrently<Element: Sendable>(
    _ elements: [Element], limit: Int, _ body: @escaping @Sendable (Element) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        var running = 0
        for element in elements {
            if running == limit {
                try await group.next()
                running -= 1
            }
            group.addTask { try await body(element) }
            running += 1
        }
        try await group.waitForAll()
    }
}
