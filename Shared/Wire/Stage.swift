/// A partitioned stage of the pipeline: one exchange, N queues, each queue worked through in order.
public enum Stage: String, Sendable, CaseIterable {
    /// What users and the registry caused, by handle; worked by `agent`.
    case inbound
    /// Replies on their way to Linq, by chat; worked by `linq-sender`.
    case replies
    /// What should be on a user's Islands, by handle; worked by `apns-pusher`.
    case islands

    /// The durable direct exchange that the stage's messages are published to.
    public var exchange: String { "\(rawValue).\(Topology.version)" }

    /// The durable queue of partition number `partition`.
    public func queue(_ partition: Int) -> String { "\(exchange).\(Partition.name(partition))" }

    /// Where the stage's messages go when they cannot be worked.
    public var parkedQueue: String { "\(Topology.parkedExchange).\(rawValue)" }

    /// The fanout exchange on which the stage's replicas say that they are there.
    public var presenceExchange: String { "presence.\(Topology.version).\(rawValue)" }
}
