import AMQP
import Runtime
import Shared

/// Tells the other replicas of a stage that this one is there, and hears the same of them.
final class Presence: Sendable {
    /// What passes between two signs of life.
    static let interval = Duration.seconds(2)

    private enum Sign: String {
        case here = "isthmus.presence.here.v1"
        case leaving = "isthmus.presence.leaving.v1"
    }

    private let instance: String
    private let exchange: String
    private let publisher: AMQPPublisher
    private let membership: Locked<Membership>
    private let subscription = Locked<AMQPSubscription?>(nil)

    init(stage: Stage, instance: String, publisher: AMQPPublisher) {
        self.instance = instance
        self.publisher = publisher
        exchange = stage.presenceExchange
        membership = Locked(Membership(own: instance))
    }

    /// Begins to listen, and calls `onChange` when somebody came or said goodbye.
    func start(_ consumer: AMQPConsumer, onChange: @escaping @Sendable () -> Void) {
        let opened = consumer.consumeExclusive(boundTo: exchange, queueNamePrefix: exchange) { [weak self] delivery in
            guard let self, let sign = Sign(rawValue: delivery.message.type) else { return }
            let member = delivery.message.id
            guard member != instance else { return }
            switch sign {
            case .here:
                guard membership.withLock({ $0.heard(from: member, at: monotonicSeconds()) }) else { return }
                announce()  // So that the newcomer hears of us at once, not at our next turn.
            case .leaving: membership.withLock { $0.left(member) }
            }
            onChange()
        }
        subscription.withLock { $0 = opened }
    }

    func members() -> [String] { membership.withLock { $0.members(at: monotonicSeconds()) } }

    /// Says that we are there.
    ///
    /// A sign that gets lost is made up for by the next one.
    func announce() { send(.here) }

    /// Says goodbye, so that the others take over without waiting.
    func leave() async {
        send(.leaving)
        await subscription.withLock { $0 }?.close()
    }

    private func send(_ sign: Sign) {
        let message = AMQPMessage(
            id: instance, type: sign.rawValue, timestamp: WallClock.system.seconds, contentType: "text/plain",
            persistent: false, body: [])
        publisher.publish(message, exchange: exchange, routingKey: "") { _ in }
    }
}
