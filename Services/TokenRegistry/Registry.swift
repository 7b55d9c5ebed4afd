import AMQP
import Cache
import Database
import Foundation
import HTTPServer
import RegistryClient
import Runtime
import Shared

/// The running service: its connections, and the work between them.
struct Registry: Sendable {
    /// Questions and commands worked at a time.
    static let questionsAtOnce: UInt16 = 64
    static let commandsAtOnce: UInt16 = 16

    let database: Database
    let redis: RedisClient?
    let publisher: AMQPPublisher
    let consumer: AMQPConsumer
    let store: RegistryStore
    let outbox: Outbox
    let questions: Questions
    let commands: Commands
    let api: RegistryAPI
    let log: Log
    private let tracer: Tracer?
    private let probe = DatabaseProbe()

    /// Opens the database and brings its tables up to date; begins to connect to the rest.
    ///
    /// - Parameter tracer: Records what is called and asked, if there is one.
    static func open(
        _ settings: RegistrySettings, _ log: Log, _ metrics: Metrics, tracer: Tracer? = nil, clock: WallClock = .system
    ) async throws -> Registry {
        guard let broker = settings.broker, let keys = settings.keys else {
            throw SettingsProblem("the settings are not whole")
        }
        let signIn = try settings.signIn.map { signIn in
            JWTVerifier(
                keys: try JWTKeys(path: signIn.keysFile, log: log), issuer: signIn.issuer, audience: signIn.audience,
                clock: clock)
        }
        let database = try await Database.open(settings.databaseURL.reveal(), log: log, metrics: metrics)
        do {
            try await database.migrate(Migrations.all, scope: Migrations.scope)
            let redis = try settings.redisURL.map { try RedisClient(url: $0.reveal(), log: log, metrics: metrics) }
            let connections = connections(broker, settings.partitions, log, metrics)
            return Registry(
                settings, keys, signIn, database, redis, connections, log: log, metrics: metrics, tracer: tracer,
                clock: clock)
        } catch {
            await database.close()
            throw error
        }
    }

    private static func connections(
        _ broker: AMQPEndpoint, _ partitions: Int, _ log: Log, _ metrics: Metrics
    ) -> (publisher: AMQPPublisher, consumer: AMQPConsumer) {
        let publisher = AMQPPublisher(
            broker, name: "token-registry/publish", requires: TopologyRequirement.publishing(to: .inbound), log: log,
            metrics: metrics)
        let consumer = AMQPConsumer(
            broker, name: "token-registry/consume",
            requires: [.queue(Topology.lookupQueue), .queue(Topology.commandsQueue)], log: log, metrics: metrics)
        return (publisher, consumer)
    }

    private init(
        _ settings: RegistrySettings, _ keys: CacheKeys, _ signIn: JWTVerifier?, _ database: Database,
        _ redis: RedisClient?, _ connections: (publisher: AMQPPublisher, consumer: AMQPConsumer), log: Log,
        metrics: Metrics, tracer: Tracer?, clock: WallClock
    ) {
        self.tracer = tracer
        self.database = database
        self.redis = redis
        self.log = log
        publisher = connections.publisher
        consumer = connections.consumer
        let figures = Figures(metrics)
        store = RegistryStore(
            database: database, vault: Vault(keys), clock: clock, instance: UUID().uuidString, hasCache: redis != nil)
        outbox = Outbox(
            store: store, cache: redis.map { RegistryCache(redis: $0, keys: keys, metrics: metrics) },
            partitions: settings.partitions, log: log, metrics: metrics
        ) { [publisher] message, routingKey throws(PublishError) in
            try await publisher.publish(message, exchange: Stage.inbound.exchange, routingKey: routingKey)
        }
        questions = Questions(store: store, outbox: outbox, log: log, figures: figures) {
            [publisher] message, replyTo throws(PublishError) in
            try await publisher.publish(message, exchange: "", routingKey: replyTo)
        }
        commands = Commands(store: store, outbox: outbox, log: log, figures: figures)
        api = RegistryAPI(
            store: store, outbox: outbox,
            authenticator: Authenticator(backendKeys: settings.backendKeys.map { $0.reveal() }, tokens: signIn),
            rateLimit: RateLimit(perMinute: settings.callsPerMinute), log: log, figures: figures, tracer: tracer)
    }

    /// Begins to connect to the broker, and waits until the topology was found to be there.
    func connect(within limit: Duration) async throws {
        publisher.start()
        consumer.start()
        try await publisher.waitUntilReady(within: limit)
        try await consumer.waitUntilReady(within: limit)
    }

    /// Why the service cannot do its work now.
    ///
    /// The cache is not among the reasons: without it we are slower, not wrong.
    var reasonsNotReady: [String] {
        publisher.state.reasonsNotReady + consumer.state.reasonsNotReady + probe.reasons
    }

    /// Works until it is cancelled.
    func run() async {
        let (asked, ask) = AsyncStream<AMQPDelivery>.makeStream()
        let (commanded, command) = AsyncStream<AMQPDelivery>.makeStream()
        // The prefetch bounds what waits in the streams.
        let lookups = consumer.consume(
            queue: Topology.lookupQueue, prefetch: Self.questionsAtOnce, onDelivery: { ask.yield($0) })
        let orders = consumer.consume(
            queue: Topology.commandsQueue, prefetch: Self.commandsAtOnce, onDelivery: { command.yield($0) })
        await withTaskGroup { group in
            group.addTask { await outbox.run(tracer: tracer) }
            group.addTask { await probe.run(database) }
            group.addTask { await reseal() }
            group.addTask {
                await forEach(asked) { delivery in
                    await questions.answer(delivery.message)
                    delivery.acknowledge()
                }
            }
            group.addTask { await forEach(commanded) { await commands.perform($0) } }
        }
        await lookups.close()
        await orders.close()
    }

    /// Publishes what is left, if that can be done now; otherwise the next start does it.
    func flush() async {
        do { _ = try await outbox.workBatch(tracer: tracer) } catch {
            log.warning("outbox left as it is", ["error": "\(error)"])
        }
    }

    /// In reverse order of opening.
    func close() async {
        await consumer.close()
        await publisher.close()
        await redis?.close()
        await database.close()
    }

    private func reseal() async {
        do {
            let count = try await Resealing(store: store).run()
            if count > 0 { log.info("sealed anew with the first data key", ["values": "\(count)"]) }
        } catch { log.error("not all could be sealed anew: keep the older data keys", ["error": "\(error)"]) }
    }

    /// Runs `body` for each delivery as it comes, and returns when those in hand are done after a cancellation.
    ///
    /// As many run at a time as the prefetch lets through.
    private func forEach(
        _ deliveries: AsyncStream<AMQPDelivery>, _ body: @escaping @Sendable (AMQPDelivery) async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            for await delivery in deliveries {
                group.addTask { await delivery.traced(tracer) { await body(delivery) } }
            }
        }
    }
}

/// Asks the database every few seconds whether it answers, for `/readyz`.
private final class DatabaseProbe: Sendable {
    private static let interval: Duration = .seconds(5)

    private let failure = Locked<String?>(nil)

    var reasons: [String] { failure.withLock { $0 }.map { ["database: \($0)"] } ?? [] }

    func run(_ database: Database) async {
        while !Task.isCancelled {
            do {
                try await database.probe()
                failure.withLock { $0 = nil }
            } catch {
                failure.withLock { $0 = "\(error)" }
            }
            // Cancelled: the loop's condition ends it.
            try? await Task.sleep(for: Self.interval)
        }
    }
}
