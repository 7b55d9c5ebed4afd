import AMQP
import Runtime
import Shared
import Stage

/// Sends each session whose time has come an event, through the user's own partition and in order with their texts.
///
/// The moment is part of the event's id, so an event that is sent twice counts once, and one that a text has
/// overtaken is void.
struct SessionClock: Sendable {
    static let interval = Duration.seconds(1)
    /// Seconds after which an event that had no effect yet is sent again.
    private static let patience = 30.0

    let store: AgentStore
    let publisher: AMQPPublisher
    let partitions: Int
    let owned: @Sendable () -> [Int]
    let clock: WallClock
    let log: Log

    func run(until stop: StopSignal) async {
        var sent: [String: Double] = [:]
        while await stop.sleep(for: Self.interval) {
            let now = monotonicSeconds()
            sent = sent.filter { now - $0.value < Self.patience }
            do {
                for due in try await store.due(at: Timestamp(clock.now), partitions: owned()) {
                    let id = "due.\(due.sessionID).\(due.dueAt.millisecondsSince1970)"
                    guard sent[id] == nil else { continue }
                    try await send(due, id: id)
                    sent[id] = now
                }
            } catch {
                log.warning("sessions that are due wait", ["error": "\(error)"])
            }
        }
    }

    private func send(_ due: AgentStore.Due, id: String) async throws {
        let event = InboundEvent(
            handle: due.handle, isPassedOn: true,
            content: .sessionDue(SessionDue(sessionID: due.sessionID, dueAt: due.dueAt)))
        let time = Timestamp(clock.now)
        let envelope = CloudEvent(
            id: id, source: "agent", type: event.type, time: time, traceparent: nil, data: event)
        let routingKey = Partition.name(Partition.of(due.handle, among: partitions))
        try await publisher.publish(
            AMQPMessage(envelope, body: try envelope.encoded()), exchange: Stage.inbound.exchange,
            routingKey: routingKey)
    }
}
