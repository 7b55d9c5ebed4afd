import AMQP
import Runtime
import Shared
import Stage

/// Something of a user's whose time has come, and the event that says so to them.
protocol DueItem: Sendable {
    var handle: String { get }
    /// The moment is part of it: an event that is sent twice counts once.
    var eventID: String { get }
    var content: InboundEvent.Content { get }
}

/// Sends whatever has become due an event, through its user's own partition and in order with their texts: so whoever
/// owns the partition works it, and nobody else.
///
/// An event that a text has overtaken is void, which whoever works it sees.
struct DueClock<Item: DueItem>: Sendable {
    /// What the log says if nothing could be looked at or sent.
    let complaint: StaticString
    /// Seconds after which an event that had no effect yet is sent again.
    let patience: Double
    let publisher: AMQPPublisher
    let partitions: Int
    let owned: @Sendable () -> [Int]
    let clock: WallClock
    let log: Log
    /// What is due at a time in these partitions.
    let query: @Sendable (Timestamp, [Int]) async throws -> [Item]

    func run(until stop: StopSignal) async {
        var sent: [String: Double] = [:]
        while await stop.sleep(for: .seconds(1)) {
            let now = monotonicSeconds()
            sent = sent.filter { now - $0.value < patience }
            do {
                for due in try await query(Timestamp(clock.now), owned()) where sent[due.eventID] == nil {
                    try await send(due)
                    sent[due.eventID] = now
                }
            } catch {
                log.warning(complaint, ["error": "\(error)"])
            }
        }
    }

    private func send(_ due: Item) async throws {
        let event = InboundEvent(handle: due.handle, isPassedOn: true, content: due.content)
        let envelope = CloudEvent(
            id: due.eventID, source: "agent", type: event.type, time: Timestamp(clock.now), traceparent: nil,
            data: event)
        try await publisher.publish(
            AMQPMessage(envelope, body: try envelope.encoded()), exchange: Stage.inbound.exchange,
            routingKey: Partition.name(Partition.of(due.handle, among: partitions)))
    }
}

extension AgentStore.Due: DueItem {
    var eventID: String { "due.\(sessionID).\(dueAt.millisecondsSince1970)" }
    var content: InboundEvent.Content { .sessionDue(SessionDue(sessionID: sessionID, dueAt: dueAt)) }
}

extension DeferredStore.Due: DueItem {
    var eventID: String { "lane.\(laneID).\(dueAt.millisecondsSince1970)" }
    var content: InboundEvent.Content { .laneDue(LaneDue(dueAt: dueAt)) }
}
