package import AMQP
import Foundation
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
        // Of another program's making; without a name nobody could put it back or drop it.
        if message.id.isEmpty { message.id = UUID().uuidString.lowercased() }
        let headers = [ParkedHeader.reason: reason, ParkedHeader.service: service, ParkedHeader.queue: queue]
        message.headers.merge(headers) { $1 }
        if message.objection(exchange: Topology.parkedExchange, routingKey: stage.rawValue) != nil {
            // Headers that we could not publish are not worth a partition that stands still.
            message.headers = headers
        }
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
