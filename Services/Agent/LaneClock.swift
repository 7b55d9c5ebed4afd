import AMQP
import Runtime
import Shared
import Stage

/// Sends each deferred lane whose time has come an event, through its user's own partition: so whoever owns the
/// partition works it, and nobody else.
struct LaneClock: Sendable {
    static let interval = Duration.seconds(1)
    /// Seconds after which an event that had no effect yet is sent again.
    private static let patience = 90.0

    let store: DeferredStore
    let publisher: AMQPPublisher
    let partitions: Int
    let owned: @Sendable () -> [Int]
    let clock: WallClock
    let log: Log
    let lanes: Gauge

    func run(until stop: StopSignal) async {
        var sent: [String: Double] = [:]
        while await stop.sleep(for: Self.interval) {
            let now = monotonicSeconds()
            sent = sent.filter { now - $0.value < Self.patience }
            do {
                lanes.set(try await store.count())
                for due in try await store.due(at: Timestamp(clock.now), partitions: owned()) {
                    let id = "lane.\(due.laneID).\(due.dueAt.millisecondsSince1970)"
                    guard sent[id] == nil else { continue }
                    try await send(due, id: id)
                    sent[id] = now
                }
            } catch {
                log.warning("deferred lanes wait", ["error": "\(error)"])
            }
        }
    }

    private func send(_ due: DeferredStore.Due, id: String) async throws {
        let event = InboundEvent(
            handle: due.handle, isPassedOn: true, content: .laneDue(LaneDue(dueAt: due.dueAt)))
        let envelope = CloudEvent(
            id: id, source: "agent", type: event.type, time: Timestamp(clock.now), traceparent: nil, data: event)
        let routingKey = Partition.name(Partition.of(due.handle, among: partitions))
        try await publisher.publish(
            AMQPMessage(envelope, body: try envelope.encoded()), exchange: Stage.inbound.exchange,
            routingKey: routingKey)
    }
}
