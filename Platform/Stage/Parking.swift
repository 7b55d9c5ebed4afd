import AMQP
import Runtime
import Shared

/// Puts messages that cannot be worked where a person finds them, with the reason.
struct Parking: Sendable {
    let stage: Stage
    let service: String
    let publisher: AMQPPublisher
    let log: Log

    /// Publishes a copy of the delivery to the stage's parked queue.
    ///
    /// Returns whether the broker has confirmed it; if not, the delivery stays unsettled and comes back.
    func park(_ delivery: AMQPDelivery, reason: String) async -> Bool {
        var message = delivery.message
        message.headers["isthmus-reason"] = reason
        message.headers["isthmus-service"] = service
        message.headers["isthmus-queue"] = delivery.queue
        do {
            try await publisher.publish(message, exchange: Topology.parkedExchange, routingKey: stage.rawValue)
            log.warning("message parked", ["queue": delivery.queue, "id": message.id, "reason": reason])
            return true
        } catch {
            log.error("message could not be parked", ["queue": delivery.queue, "id": message.id, "error": "\(error)"])
            return false
        }
    }
}
