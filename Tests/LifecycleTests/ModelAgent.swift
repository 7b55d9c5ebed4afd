import Foundation
import Shared

@testable import Agent

/// The agent service: the real turn, over a store that keeps what a committed transaction keeps.
struct ModelAgent {
    let turn: Turn
    private(set) var states: [String: UserState] = [:]
    private(set) var replaced: [UserState] = []
    private var seen: Set<String> = []
    private var outboxes: [String: [Outgoing]] = [:]
    /// What the running process remembers of the moments it has announced.
    private var announced: [String: Timestamp] = [:]
    /// The last state that was committed for each user's Islands.
    private(set) var desired: [String: DesiredIsland] = [:]

    init(turn: Turn) { self.turn = turn }

    struct Fault: Error, CustomStringConvertible { let description: String }

    /// Loads, takes the turn and commits; returns what must be published, also for an event that was seen before.
    mutating func work(
        _ event: CloudEvent<InboundEvent>, _ record: RegistryRecord, at now: Timestamp
    ) async throws -> [Outgoing] {
        let keys = EventHandler.keys(of: event)
        if keys.contains(where: seen.contains) { return keys.flatMap { outboxes[$0] ?? [] } }
        let handle = event.data.handle
        let before = states[handle] ?? UserState(handle: handle)
        let outcome = try await turn.take(
            Turn.Input(event: event, eventKey: keys[0], record: record, now: now), before)
        seen.formUnion(keys)
        states[handle] = outcome.isGone ? nil : outcome.state
        if let replaced = outcome.replaced { self.replaced.append(replaced) }
        outboxes[keys[0]] = outcome.outgoing
        for outgoing in outcome.outgoing where outgoing.exchange == Stage.islands.exchange {
            try note(CloudEvent<DesiredIsland>(decoding: Array(outgoing.body.utf8)).data)
        }
        return outcome.outgoing
    }

    private mutating func note(_ island: DesiredIsland) throws {
        if let last = desired[island.userID], island.timestamp < last.timestamp {
            throw Fault(description: "aps.timestamp fell from \(last.timestamp) to \(island.timestamp)")
        }
        desired[island.userID] = island
    }

    /// All that the event caused is published.
    mutating func forgetOutgoing(of event: CloudEvent<InboundEvent>) {
        outboxes[EventHandler.keys(of: event)[0]] = nil
    }

    /// The sessions whose time has come and that were not announced lately.
    mutating func due(at now: Timestamp) -> [CloudEvent<InboundEvent>] {
        announced = announced.filter { now < $0.value + .seconds(30) }
        return states.values.sorted { $0.handle < $1.handle }.compactMap { state in
            guard let dueAt = turn.rules.dueAt(state.session), dueAt <= now, let session = state.session else {
                return nil
            }
            let id = "due.\(session.id).\(dueAt.millisecondsSince1970)"
            guard announced[id] == nil else { return nil }
            announced[id] = now
            let event = InboundEvent(
                handle: state.handle, isPassedOn: true,
                content: .sessionDue(SessionDue(sessionID: session.id, dueAt: dueAt)))
            return CloudEvent(id: id, source: "agent", type: event.type, time: now, traceparent: nil, data: event)
        }
    }

    mutating func crash() { announced = [:] }
}
