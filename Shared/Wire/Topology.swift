/// The exchanges and queues of the broker, as data.
///
/// Names carry a version, because a queue's arguments cannot change once it is there.
public struct Topology: Sendable, Equatable {
    public static let version = "v1"

    /// Direct exchange for messages that could not be worked; routing key: the stage's name.
    public static let parkedExchange = "parked.\(version)"
    /// Direct exchange in front of the registry's queues.
    public static let registryExchange = "registry.\(version)"
    /// Questions that want an answer at once; short-lived, answered by direct reply-to.
    public static let lookupQueue = "registry.\(version).lookup"
    /// What the registry must do although nobody waits for it.
    public static let commandsQueue = "registry.\(version).commands"
    /// Commands that the registry cannot work.
    public static let parkedCommandsQueue = "\(parkedExchange).registry"
    public static let lookupRoutingKey = "lookup"
    public static let commandsRoutingKey = "commands"

    public enum ExchangeKind: String, Sendable { case direct, fanout }

    public struct Exchange: Sendable, Equatable {
        public let name: String
        public let kind: ExchangeKind
    }

    /// The value of a queue's argument.
    public enum Argument: Sendable, Equatable {
        case text(String)
        case integer(Int)
        case flag(Bool)
    }

    public struct Queue: Sendable, Equatable {
        public let name: String
        public let arguments: [String: Argument]
    }

    public struct Binding: Sendable, Equatable {
        public let exchange: String
        public let queue: String
        public let routingKey: String
    }

    public let exchanges: [Exchange]
    public let queues: [Queue]
    public let bindings: [Binding]

    /// Everything that the five services need, with `partitions` queues a stage.
    public init(partitions: Int) {
        exchanges =
            Stage.allCases.map { Exchange(name: $0.exchange, kind: .direct) }
            + Stage.allCases.map { Exchange(name: $0.presenceExchange, kind: .fanout) }
            + [
                Exchange(name: Self.parkedExchange, kind: .direct),
                Exchange(name: Self.registryExchange, kind: .direct),
            ]
        let partitioned = Stage.allCases.flatMap { stage in (0..<partitions).map { (stage, $0) } }
        queues =
            partitioned.map { Queue(name: $0.queue($1), arguments: Self.partitionArguments($0)) }
            + Stage.allCases.map { Queue(name: $0.parkedQueue, arguments: Self.parkedArguments) }
            + [
                Queue(name: Self.parkedCommandsQueue, arguments: Self.parkedArguments),
                Queue(name: Self.lookupQueue, arguments: Self.lookupArguments),
                Queue(name: Self.commandsQueue, arguments: Self.commandsArguments),
            ]
        bindings =
            partitioned.map {
                Binding(exchange: $0.exchange, queue: $0.queue($1), routingKey: Partition.name($1))
            }
            + Stage.allCases.map {
                Binding(exchange: Self.parkedExchange, queue: $0.parkedQueue, routingKey: $0.rawValue)
            }
            + [
                Binding(
                    exchange: Self.parkedExchange, queue: Self.parkedCommandsQueue, routingKey: Self.commandsRoutingKey),
                Binding(
                    exchange: Self.registryExchange, queue: Self.lookupQueue, routingKey: Self.lookupRoutingKey),
                Binding(
                    exchange: Self.registryExchange, queue: Self.commandsQueue, routingKey: Self.commandsRoutingKey),
            ]
    }

    /// Single active consumer and a delivery limit keep the order: without a limit, a message that is handed back goes
    /// to the tail.
    ///
    /// Whoever dies hands back all that it had in hand, poison or not; so the limit is more than a crash loop of four
    /// hours comes to (docs/decisions/0009). What ends the agent each time is counted by the agent itself.
    ///
    /// Rejected publishes and at-least-once dead-lettering keep everything: each needs the other.
    private static func partitionArguments(_ stage: Stage) -> [String: Argument] {
        [
            "x-queue-type": .text("quorum"),
            "x-single-active-consumer": .flag(true),
            "x-delivery-limit": .integer(100),
            "x-overflow": .text("reject-publish"),
            "x-max-length": .integer(1_000_000),
            "x-max-length-bytes": .integer(1 << 30),
            "x-dead-letter-exchange": .text(parkedExchange),
            "x-dead-letter-routing-key": .text(stage.rawValue),
            "x-dead-letter-strategy": .text("at-least-once"),
        ]
    }

    /// Parked messages wait for a person, however long: no time limit, and nothing is dropped to make room.
    private static let parkedArguments: [String: Argument] = [
        "x-queue-type": .text("quorum"),
        "x-max-length": .integer(100_000),
        "x-overflow": .text("reject-publish"),
    ]

    /// A question nobody waits for any more is worth nothing.
    private static let lookupArguments: [String: Argument] = [
        "x-message-ttl": .integer(2000),
        "x-max-length": .integer(10_000),
        "x-overflow": .text("reject-publish"),
    ]

    private static let commandsArguments: [String: Argument] = [
        "x-queue-type": .text("quorum"),
        "x-delivery-limit": .integer(20),
        "x-overflow": .text("reject-publish"),
        "x-max-length": .integer(100_000),
        "x-dead-letter-exchange": .text(parkedExchange),
        "x-dead-letter-routing-key": .text(commandsRoutingKey),
        "x-dead-letter-strategy": .text("at-least-once"),
    ]
}

/// An exchange or queue that a service cannot do without; looked at, never made, when it starts.
public enum TopologyRequirement: Sendable, Hashable, CustomStringConvertible {
    case exchange(String)
    case queue(String)

    public var description: String {
        switch self {
        case .exchange(let name): "exchange \(name)"
        case .queue(let name): "queue \(name)"
        }
    }

    /// The stage's own exchange, for who publishes to it.
    public static func publishing(to stage: Stage) -> [TopologyRequirement] { [.exchange(stage.exchange)] }

    /// All of the stage's queues, for who works it; no more and no fewer than `partitions`.
    public static func working(_ stage: Stage, partitions: Int) -> [TopologyRequirement] {
        [.exchange(stage.presenceExchange), .exchange(Topology.parkedExchange)]
            + (0..<partitions).map { .queue(stage.queue($0)) }
    }
}
