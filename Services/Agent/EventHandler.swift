import AMQP
import RegistryClient
import Runtime
import Shared
import Stage

/// An event's way through the agent: whose it is, was it seen, the turn, one commit, and out it goes.
final class EventHandler: Sendable {
    /// How long one event is tried in place before its partition goes back to the queue.
    static let patience = 60.0
    /// How long the partition rests then, at the most.
    private static let longestRest = Duration.seconds(300)
    /// How often an agent that fails may try one event in place.
    private static let agentTries = 3

    /// Where an event comes from.
    enum Source {
        case queue(body: [UInt8], redelivered: Bool)
        /// The user's deferred lane.
        case lane

        fileprivate var isLane: Bool { if case .lane = self { true } else { false } }
        /// Whether a process may have died of it before.
        fileprivate var isSuspicious: Bool { if case .queue(_, false) = self { false } else { true } }
    }

    /// What has come of trying an event in place.
    enum Ending {
        case done
        /// The partition is to be given up.
        case stopped
        /// The database, the broker or the registry is away.
        case notNow
        /// The agent says that it is away, or cannot be reached.
        case agentAway(reason: String)
        /// It can never be worked.
        case hopeless(reason: String)
    }

    private let turn: Turn
    private let hints: ChatHints
    private let store: AgentStore
    private let registry: RegistryClient
    private let publisher: AMQPPublisher
    private let partitions: Int
    private let counts: AgentMetrics
    private let backoff = Backoff()
    let clock: WallClock
    let log: Log
    let attempts: Attempts
    let parking: Parking

    var deferred: DeferredStore { store.deferred }

    init(
        turn: Turn, hints: ChatHints, store: AgentStore, registry: RegistryClient, publisher: AMQPPublisher,
        partitions: Int,
        clock: WallClock, log: Log, metrics: Metrics
    ) {
        self.turn = turn
        self.hints = hints
        self.store = store
        self.registry = registry
        self.publisher = publisher
        self.partitions = partitions
        self.clock = clock
        self.log = log
        counts = AgentMetrics(metrics)
        attempts = Attempts(store.attempts, clock: clock)
        parking = Parking(stage: .inbound, service: log.service, publisher: publisher, log: log)
    }

    /// Works one event until its effects are out, trying again while time passes elsewhere.
    func handle(_ item: StageItem<CloudEvent<InboundEvent>>) async -> Verdict {
        if case .laneDue = item.event.data.content { return await workLane(item) }
        let delivery = item.delivery
        let source = Source.queue(body: delivery.message.body, redelivered: delivery.redelivered)
        var attempt = attempts.attempt(at: Self.keys(of: item.event)[0])
        let ending = await tryInPlace(item.event, from: source, until: item.stop, &attempt)
        await forget(attempt)
        switch ending {
        case .done: return .done
        case .stopped: return .handBack(retryAfter: .zero)
        case .notNow: return .handBack(retryAfter: item.rest(from: .seconds(5), upTo: Self.longestRest))
        case .hopeless(let reason): return .park(reason: reason)
        case .agentAway:
            do {
                try await deferred.begin(
                    entry(item.event, body: delivery.message.body), dueAt: Timestamp(clock.now) + Self.laneRest(0))
                counts.deferred.increment()
                return .done
            } catch {
                log.warning("event not deferred yet", ["event": item.event.id, "error": "\(error)"])
                return .handBack(retryAfter: item.rest(from: .seconds(5), upTo: Self.longestRest))
            }
        }
    }

    func forget(_ attempt: Attempts.Attempt) async {
        do {
            try await attempts.end(attempt)
        } catch {
            // Then it counts as one more attempt, should it come again.
            log.warning("attempt not forgotten", ["event": attempt.eventKey, "error": "\(error)"])
        }
    }

    func tryInPlace(
        _ event: CloudEvent<InboundEvent>, from source: Source, until stop: StopSignal,
        _ attempt: inout Attempts.Attempt
    ) async -> Ending {
        let began = monotonicSeconds()
        var failures = 0
        var agentFailures = 0
        while true {
            do {
                if source.isSuspicious {
                    try await attempts.run(&attempt) { try await work(event, from: source) }
                } else {
                    try await work(event, from: source)
                }
                return .done
            } catch let error as Attempts.TooMany {
                log.error("event ends the process", ["event": event.id])
                return .hopeless(reason: "\(error)")
            } catch let error as Turn.AgentFailed {
                agentFailures += 1
                log.error("agent failed", ["event": event.id, "error": "\(error)"])
                // In a lane, time has passed since the last try, and passes before the next one.
                if error.isPassing, source.isLane || agentFailures >= Self.agentTries {
                    return .agentAway(reason: "\(error)")
                }
                if agentFailures >= Self.agentTries { return .hopeless(reason: "\(error)") }
            } catch {
                log.warning("event not handled yet", ["event": event.id, "error": "\(error)"])
            }
            failures += 1
            counts.retried.increment()
            guard await stop.sleep(for: backoff.delay(after: failures)) else { return .stopped }
            guard monotonicSeconds() - began < Self.patience else { return .notNow }
        }
    }

    private func work(_ event: CloudEvent<InboundEvent>, from source: Source) async throws {
        let record = try await record(for: event.data)
        if record.canonicalHandle != event.data.handle, event.data.follows(record) {
            return try await passOn(event, to: record.canonicalHandle)
        }
        while true {
            let keys = Self.keys(of: event)
            let loaded = try await store.load(handle: event.data.handle, eventKeys: keys)
            if loaded.isSeen {
                counts.duplicates.increment()
                return try await publish(loaded.outgoing, of: keys[0])
            }
            if loaded.isDeferred, case .queue(let body, _) = source {
                // Unless the lane has ended meanwhile, the event waits behind those that came before it.
                guard try await deferred.append(entry(event, body: body)) else { continue }
                return counts.deferred.increment()
            }
            let now = Timestamp(clock.now)
            let before = loaded.state ?? UserState(handle: event.data.handle)
            let input = Turn.Input(event: event, eventKey: keys[0], record: record, now: now)
            let outcome = try await hints.during(event) { try await turn.take(input, before) }
            let commit = AgentStore.Commit(
                eventKeys: keys, version: loaded.version, handle: before.handle,
                state: outcome.isGone ? nil : outcome.state, replaced: outcome.replaced,
                erasure: event.data.erasure(of: record), partition: Partition.of(before.handle, among: partitions),
                dueAt: turn.rules.dueAt(outcome.state.session), outgoing: outcome.outgoing, at: now)
            // A conflict means that another replica had the event too, or one of the same user before it.
            guard try await store.commit(commit) == .committed else { continue }
            note(outcome, event)
            return try await publish(outcome.outgoing, of: keys[0])
        }
    }

    /// What the registry knows of whom the event is about.
    private func record(for event: InboundEvent) async throws -> RegistryRecord {
        // The handle that a state was moved to may be somebody else's by now.
        if case .stateMoved(let moved) = event.content, let userID = moved.userID {
            return try await registry.lookup(user: userID)
        }
        return try await registry.lookup(event.handle)
    }

    private func entry(_ event: CloudEvent<InboundEvent>, body: [UInt8]) -> DeferredStore.Entry {
        DeferredStore.Entry(
            handle: event.data.handle, eventKey: Self.keys(of: event)[0],
            partition: Partition.of(event.data.handle, among: partitions), at: Timestamp(clock.now), body: body)
    }

    /// What a copy of the event is recognised by: its own id, and the id of the text in it, which is the same when
    /// a second subscription reports it.
    static func keys(of event: CloudEvent<InboundEvent>) -> [String] {
        let own = "\(event.source)/\(event.id)"
        guard case .message(let message) = event.data.content else { return [own] }
        return [own, "message/\(message.messageID)"]
    }

    /// Hands the event to the partition of the user's canonical handle, where their state is.
    private func passOn(_ event: CloudEvent<InboundEvent>, to handle: String) async throws {
        let passed = InboundEvent(handle: handle, isPassedOn: true, content: event.data.content)
        let copy = CloudEvent(
            id: event.id, source: event.source, type: event.type, time: event.time, traceparent: event.traceparent,
            data: passed)
        let routingKey = Partition.name(Partition.of(handle, among: partitions))
        try await publisher.publish(
            AMQPMessage(copy, body: try copy.encoded()), exchange: Stage.inbound.exchange, routingKey: routingKey)
        counts.passedOn.increment()
    }

    /// Publishes what an event caused, replies in their order and the Island beside them, and forgets it then.
    private func publish(_ outgoing: [Outgoing], of eventKey: String) async throws {
        guard !outgoing.isEmpty else { return }
        var lots = Dictionary(grouping: outgoing, by: \.exchange).values.map { $0[...] }
        while !lots.isEmpty {
            try await publisher.publish(lots.compactMap(\.first).map { ($0.message, $0.exchange, $0.routingKey) })
            lots = lots.map { $0.dropFirst() }.filter { !$0.isEmpty }
        }
        try await store.forgetOutgoing(of: eventKey)
    }

    private func note(_ outcome: Turn.Outcome, _ event: CloudEvent<InboundEvent>) {
        if let reason = outcome.withoutIsland { counts.withoutIsland(reason.rawValue).increment() }
        if let refusal = outcome.refusal {
            counts.refused.increment()
            log.error("content state refused, the last good one stays", ["event": event.id, "error": "\(refusal)"])
        }
    }
}

extension InboundEvent {
    /// Whether it follows the user to their canonical handle: what a person or the customer's backend caused does, once,
    /// and so does a state for which that has changed again on the way.
    func follows(_ record: RegistryRecord) -> Bool {
        switch content {
        case .message, .reaction, .edit, .custom: !isPassedOn
        case .stateMoved(let moved):
            moved.userID != nil && record.userID != nil && !record.canonicalHandle.isEmpty
        case .sessionDue, .islandReachable, .identityChanged, .laneDue: false
        }
    }

    fileprivate func erasure(of owner: RegistryRecord) -> AgentStore.Erasure? {
        guard case .identityChanged(let change) = content, change.isErased == true else { return nil }
        return AgentStore.Erasure(change: change, owner: owner)
    }
}

extension AMQPMessage {
    /// An inbound event as it goes through a queue.
    init(_ event: CloudEvent<InboundEvent>, body: [UInt8]) {
        self.init(
            id: event.id, type: event.type, timestamp: event.time.secondsSince1970,
            contentType: CloudEvent<InboundEvent>.contentType,
            headers: event.traceparent.map { ["traceparent": $0] } ?? [:], body: body)
    }
}
