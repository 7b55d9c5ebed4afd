import AMQP
import Shared

/// The queues in which messages wait for a person.
enum ParkedQueue: String, CaseIterable, Sendable {
    case inbound, replies, islands, registry

    var name: String {
        switch self {
        case .inbound: Stage.inbound.parkedQueue
        case .replies: Stage.replies.parkedQueue
        case .islands: Stage.islands.parkedQueue
        case .registry: Topology.parkedCommandsQueue
        }
    }
}

/// A parked message: put aside by a service, which gave a reason, or by the broker, which counted its deliveries.
struct ParkedMessage: Sendable, Equatable {
    /// Where a message goes to be worked.
    struct Route: Sendable, Equatable {
        let exchange: String
        let routingKey: String
    }

    let queue: ParkedQueue
    let message: AMQPMessage

    init(_ message: AMQPMessage, in queue: ParkedQueue) {
        self.queue = queue
        self.message = message
    }

    var id: String { message.id }

    /// Seconds since 1970.
    var publishedAt: Int64 { message.timestamp }

    var reason: String {
        if let reason = message.headers[ParkedHeader.reason] { return reason }
        return switch message.headers["x-first-death-reason"] {
        case "delivery_limit": "RabbitMQ has handed it out too often without an acknowledgement"
        case "rejected": "refused by the service: its log says why"
        case let other?: "RabbitMQ: \(other)"
        case nil: "none given"
        }
    }

    /// Who has put it aside.
    var service: String { message.headers[ParkedHeader.service] ?? "rabbitmq" }

    /// The queue that it came from, if it came from one.
    var origin: String? { message.headers[ParkedHeader.queue] ?? message.headers["x-first-death-queue"] }

    /// The way back into the queue that it came from; `nil` for what never was in one.
    var route: Route? {
        guard let origin else { return nil }
        if origin == Topology.commandsQueue {
            return Route(exchange: Topology.registryExchange, routingKey: Topology.commandsRoutingKey)
        }
        guard let stage = Stage.allCases.first(where: { origin.hasPrefix($0.exchange + ".") }),
            let partition = Int(origin.dropFirst(stage.exchange.count + 1)), stage.queue(partition) == origin
        else { return nil }
        return Route(exchange: stage.exchange, routingKey: Partition.name(partition))
    }

    /// The message as it was before it was parked, with the moment of its return: a reply's time begins anew.
    func original(replayedAt now: Int64) -> AMQPMessage {
        var original = message
        original.headers = message.headers.filter { !$0.key.hasPrefix("x-") && !ParkedHeader.all.contains($0.key) }
        original.headers[ParkedHeader.replayedAt] = "\(now)"
        original.persistent = true
        return original
    }
}
