import Foundation
import HTTPClient
import Runtime
import Shared

/// Delivers webhooks as Linq does: signed, concurrently, and again and again until they are taken or given up.
final class WebhookSender: Sendable {
    /// Events on their way at once; more are refused.
    static let mostAtOnce = 20_000
    /// Deliveries that are remembered for the page.
    static let memory = 200
    /// libcurl's number for a host name that cannot be resolved.
    private static let couldNotResolve: Int32 = 6

    /// Where webhooks go: a subscription.
    struct Target: Sendable {
        let id: String
        let url: String
        let signature: WebhookSignature
    }

    struct Event: Sendable {
        let id: String
        let type: String
        let body: [UInt8]
        /// The trail that the way of this event is noted in.
        var trail: String?
        var copies = 1
        var delay = Duration.zero
    }

    /// How a delivery stands.
    struct Delivery: Sendable, Encodable {
        let eventID: String
        let type: String
        let at: Timestamp
        var attempts = 0
        /// The last status; `nil` if there was no answer.
        var status: Int?
        /// "on its way", "taken", "given up: …".
        var outcome = "on its way"
    }

    struct Figures: Sendable, Encodable, Equatable {
        var events = 0
        var attempts = 0
        var taken = 0
        var retried = 0
        var givenUp = 0
        var onTheirWay = 0
        var byStatus: [String: Int] = [:]
    }

    private struct State {
        var figures = Figures()
        var recent: [Delivery] = []
        var tasks: [Int: Task<Void, Never>] = [:]
        var serial = 0
        var isClosed = false
    }

    struct TooMany: Error {}

    private let http: HTTPClient
    private let clock: WallClock
    private let trails: Trails
    private let wait: @Sendable (Duration) async throws -> Void
    private let state = Locked(State())

    /// - Parameter wait: Sleeps between attempts; a test gives one that does not.
    init(
        http: HTTPClient, clock: WallClock, trails: Trails,
        wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.http = http
        self.clock = clock
        self.trails = trails
        self.wait = wait
    }

    /// Starts the delivery of an event to each target.
    ///
    /// Copies of it go out at the same time.
    func deliver(_ event: Event, to targets: [Target]) throws(TooMany) {
        for target in targets {
            for _ in 0..<event.copies { try start(event, target) }
        }
    }

    /// Delivers an event and returns when it was taken or given up.
    func deliverAndWait(_ event: Event, to target: Target) async -> Delivery {
        state.withLock { state in
            state.figures.events += 1
            state.figures.onTheirWay += 1
        }
        return await run(event, target)
    }

    private func start(_ event: Event, _ target: Target) throws(TooMany) {
        let isFull = state.withLock { state in
            guard state.figures.onTheirWay < Self.mostAtOnce, !state.isClosed else { return true }
            state.serial += 1
            state.figures.events += 1
            state.figures.onTheirWay += 1
            let number = state.serial
            // Owned by this sender: `close()` cancels it and waits for it.
            state.tasks[number] = Task {
                _ = await self.run(event, target)
                self.state.withLock { $0.tasks[number] = nil }
            }
            return false
        }
        if isFull { throw TooMany() }
    }

    private func run(_ event: Event, _ target: Target) async -> Delivery {
        var delivery = Delivery(eventID: event.id, type: event.type, at: Timestamp(clock.now))
        let start = ContinuousClock.now
        do {
            if event.delay > .zero { try await wait(event.delay) }
            var waited = Duration.zero
            while true {
                delivery.attempts += 1
                trails.add(Self.departure(event, attempt: delivery.attempts), to: event.trail)
                let sentAt = ContinuousClock.now
                let outcome = await attempt(event, target)
                let took = ContinuousClock.now - sentAt
                if case .answered(let status) = outcome { delivery.status = status } else { delivery.status = nil }
                let elapsed = max(waited, ContinuousClock.now - start)
                let decision = WebhookRetry.decide(
                    outcome, attempt: delivery.attempts, elapsed: elapsed, random: .random(in: 0..<1))
                note(outcome, decision)
                trails.add(Self.hop(outcome, decision, took), to: event.trail)
                guard case .again(let pause) = decision else {
                    delivery.outcome = Self.words(decision)
                    break
                }
                waited = elapsed + pause
                try await wait(pause)
            }
        } catch {
            delivery.outcome = "given up: the simulator stops"
        }
        finish(delivery)
        return delivery
    }

    private func attempt(_ event: Event, _ target: Target) async -> WebhookRetry.Outcome {
        let headers = target.signature.headers(
            id: event.id, eventType: event.type, subscription: target.id, seconds: clock.seconds, body: event.body)
        let request = HTTPClientRequest("POST", target.url, headers: headers, body: event.body)
        do {
            return .answered(status: try await http.send(request, within: WebhookRetry.timeout).status)
        } catch {
            return error.code == Self.couldNotResolve ? .noSuchHost(error.words) : .network(error.words)
        }
    }

    private func note(_ outcome: WebhookRetry.Outcome, _ decision: WebhookRetry.Decision) {
        state.withLock { state in
            state.figures.attempts += 1
            if case .again = decision { state.figures.retried += 1 }
            let name = if case .answered(let status) = outcome { "\(status)" } else { "no answer" }
            state.figures.byStatus[name, default: 0] += 1
        }
    }

    private func finish(_ delivery: Delivery) {
        state.withLock { state in
            state.figures.onTheirWay -= 1
            if delivery.outcome == "taken" { state.figures.taken += 1 } else { state.figures.givenUp += 1 }
            state.recent.append(delivery)
            if state.recent.count > Self.memory { state.recent.removeFirst() }
        }
    }

    private static func departure(_ event: Event, attempt: Int) -> Hop {
        Hop(
            .webhook, .good, attempt == 1 ? "Linq sends the webhook" : "Linq sends the webhook again, try \(attempt)",
            message: event.body)
    }

    private static func hop(_ outcome: WebhookRetry.Outcome, _ decision: WebhookRetry.Decision, _ took: Duration) -> Hop
    {
        let answer =
            switch outcome {
            case .answered(let status): "ingress answers \(status)"
            case .network(let words), .noSuchHost(let words): "ingress does not answer (\(words))"
            }
        let (tone, words): (Hop.Tone, String) =
            switch decision {
            case .done: (.good, "\(answer): the broker has confirmed it")
            case .again(let pause): (.bad, "\(answer): Linq tries again in \(Int(pause.seconds.rounded())) s")
            case .giveUp(let why): (.bad, "\(answer): Linq gives it up, \(why)")
            }
        return Hop(.confirmed, tone, words, seconds: took.seconds)
    }

    private static func words(_ decision: WebhookRetry.Decision) -> String {
        switch decision {
        case .done: "taken"
        case .again: "on its way"
        case .giveUp(let why): "given up: \(why)"
        }
    }

    var figures: Figures { state.withLock { $0.figures } }

    /// The last deliveries that ended, the newest last.
    var recent: [Delivery] { state.withLock { $0.recent } }

    /// Forgets the figures but not what is on its way.
    func resetFigures() {
        state.withLock { state in state.figures = Figures(onTheirWay: state.figures.onTheirWay) }
    }

    func close() async {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
