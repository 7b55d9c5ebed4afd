package import AMQP
package import Runtime
package import Shared

/// Puts messages that cannot be worked where a person finds them, with the reason.
package struct Parking: Sendable {
    let stage: Stage
    let service: String
    let publisher: AMQPPublisher
    let log: Log

    package init(stage: Stage, service: String, publisher: AMQPPublisher, log: Log) {
        self.stage = stage
        self.service = service
        self.publisher = publisher
        self.log = log
    }

    /// Publishes a copy of a message from `queue` to the stage's parked queue.
    ///
    /// Returns whether the broker has confirmed it; if not, the message must stay where it is.
    package func park(_ original: AMQPMessage, from queue: String, reason: String) async -> Bool {
        var message = original
        message.headers[ParkedHeader.reason] = reason
        message.headers[ParkedHeader.service] = service
        message.headers[ParkedHeader.queue] = queue
        do {
            try await publisher.publish(message, exchange: Topology.parkedExchange, routingKey: stage.rawValue)
            log.warning("message parked", ["queue": queue, "id": message.id, "reason": reason])
            return true
        } catch {
            log.error("message could not be parked", ["queue": queue, "id": message.id, "error": "\(error)"])
            return false
        }
    }
}
