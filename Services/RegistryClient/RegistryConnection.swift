package import AMQP
import Cache
package import Runtime
import Shared

/// What a service needs to ask the registry: the client, and the connections under it with their life.
package struct RegistryConnection: Sendable {
    package let client: RegistryClient
    private let requester: AMQPRequester
    private let cache: RedisClient?

    package init(
        _ endpoint: AMQPEndpoint, redisURL: Secret<String>?, keys: CacheKeys, service: String, log: Log,
        metrics: Metrics
    ) throws {
        requester = Self.requester(endpoint, service, log, metrics)
        cache = try redisURL.map { try RedisClient(url: $0.reveal(), log: log, metrics: metrics) }
        client = RegistryClient(requester: requester, cache: cache, keys: keys, log: log, metrics: metrics)
    }

    /// Without Redis, for who asks rarely.
    package init(_ endpoint: AMQPEndpoint, service: String, log: Log, metrics: Metrics) {
        requester = Self.requester(endpoint, service, log, metrics)
        cache = nil
        client = RegistryClient(requester: requester, cache: nil, log: log, metrics: metrics)
    }

    private static func requester(
        _ endpoint: AMQPEndpoint, _ service: String, _ log: Log, _ metrics: Metrics
    ) -> AMQPRequester {
        AMQPRequester(
            endpoint, name: "\(service)/request",
            requires: [.exchange(Topology.registryExchange), .queue(Topology.lookupQueue)], log: log, metrics: metrics)
    }

    /// Begins to connect and waits for nothing: for who can do most of its work without the registry.
    package func startInBackground() { requester.start() }

    /// Connects to the broker.
    ///
    /// Redis is not waited for: without it look-ups are slower, not wrong.
    package func start(within limit: Duration = .seconds(60)) async throws {
        requester.start()
        try await requester.waitUntilReady(within: limit)
    }

    package var reasonsNotReady: [String] { requester.state.reasonsNotReady }

    package func close() async {
        await requester.close()
        await cache?.close()
    }
}
