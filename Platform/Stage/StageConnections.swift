package import AMQP
package import Runtime
package import Shared

/// A stage service's two connections to the broker: what blocks publishers must not hold up acknowledgements.
package struct StageConnections: Sendable {
    package let publisher: AMQPPublisher
    package let consumer: AMQPConsumer

    /// - Parameters:
    ///   - publishes: What must be there beside the stage's own queues.
    package init(
        _ endpoint: AMQPEndpoint, service: String, works stage: Stage, partitions: Int,
        publishes: [TopologyRequirement] = [], log: Log, metrics: Metrics
    ) {
        publisher = AMQPPublisher(
            endpoint, name: "\(service)/publish", requires: publishes + [.exchange(Topology.parkedExchange)], log: log,
            metrics: metrics)
        consumer = AMQPConsumer(
            endpoint, name: "\(service)/consume",
            requires: TopologyRequirement.working(stage, partitions: partitions), log: log, metrics: metrics)
    }

    /// Connects, and waits until the topology was found to be there.
    package func start(within limit: Duration = .seconds(60)) async throws {
        publisher.start()
        consumer.start()
        try await publisher.waitUntilReady(within: limit)
        try await consumer.waitUntilReady(within: limit)
    }

    /// Why the service is not ready, as far as the broker is concerned.
    package var reasonsNotReady: [String] { publisher.state.reasonsNotReady + consumer.state.reasonsNotReady }

    package func close() async {
        await consumer.close()
        await publisher.close()
    }
}
