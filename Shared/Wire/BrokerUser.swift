public import Foundation

/// A user of the broker: one for each service, with the rights that its work needs and no more.
///
/// Three patterns of names, as RabbitMQ has it: what may be made or removed, written to, and read from. Looking whether
/// something is there needs no right. Publishing writes to an exchange, consuming reads a queue; binding writes to the
/// queue and reads the exchange.
public struct BrokerUser: Sendable, Equatable {
    public let name: String
    /// What the management API may show to this user; empty for who has no business there.
    public let tags: [String]
    public let configure: String
    public let write: String
    public let read: String

    private init(
        _ name: String, tags: [String] = [], configure: [String] = [], write: [String] = [], read: [String] = []
    ) {
        self.name = name
        self.tags = tags
        self.configure = Self.pattern(configure)
        self.write = Self.pattern(write)
        self.read = Self.pattern(read)
    }

    /// All of them, the services first.
    public static let all = [
        // It asks the registry whose a user id is, for events of the backend.
        BrokerUser(
            "ingress",
            write: [Stage.inbound.exchange, Topology.parkedExchange, Topology.registryExchange].map(literally)),
        worker(
            "agent", of: .inbound,
            publishes: Stage.allCases.map(\.exchange) + [Topology.registryExchange]),
        worker("linq-sender", of: .replies, publishes: []),
        worker("apns-pusher", of: .islands, publishes: [Topology.registryExchange]),
        // Answers to questions go through the default exchange, whose name in a pattern is amq.default.
        BrokerUser(
            "token-registry",
            write: ["amq.default", Stage.inbound.exchange, Topology.parkedExchange].map(literally),
            read: [Topology.lookupQueue, Topology.commandsQueue].map(literally)),
        // A person who looks at parked messages and sends them on again.
        BrokerUser(
            "operator", tags: ["monitoring"],
            write: (Stage.allCases.map(\.exchange) + [Topology.registryExchange]).map(literally),
            read: (Stage.allCases.map(\.parkedQueue) + [Topology.parkedCommandsQueue]).map(literally)),
        // What counts queues, for scaling by them: it sees figures, and no message.
        BrokerUser("monitor", tags: ["monitoring"]),
    ]

    /// Who works a stage: its queues, its replicas' signs of life, the parked messages, and what it publishes to.
    private static func worker(_ name: String, of stage: Stage, publishes exchanges: [String]) -> BrokerUser {
        // Each replica makes a queue of its own for the signs of life.
        let ownQueue = literally(stage.presenceExchange) + "[0-9a-f]+"
        let presence = [literally(stage.presenceExchange), ownQueue]
        return BrokerUser(
            name, configure: [ownQueue],
            write: (exchanges + [Topology.parkedExchange]).map(literally) + presence,
            read: [literally(stage.exchange) + "\\.[0-9]+"] + presence)
    }

    private static func literally(_ name: String) -> String { name.replacing(".", with: "\\.") }

    /// The whole name must be one of these; none at all is said by a pattern that only an empty name would fit.
    private static func pattern(_ names: [String]) -> String {
        names.count < 2 ? "^\(names.first ?? "")$" : "^(\(names.joined(separator: "|")))$"
    }
}

extension BrokerUser {
    private struct Definitions: Encodable {
        let permissions: [Permission]
    }

    private struct Permission: Encodable {
        let user: String
        let vhost: String
        let configure: String
        let write: String
        let read: String
    }

    /// What each user may do, in RabbitMQ's definitions format.
    ///
    /// The users themselves, which have passwords, and the topology have to be imported before.
    public static func permissions(vhost: String) throws -> Data {
        let permissions = all.map {
            Permission(user: $0.name, vhost: vhost, configure: $0.configure, write: $0.write, read: $0.read)
        }
        return try definitionsEncoder.encode(Definitions(permissions: permissions)) + Data("\n".utf8)
    }
}
