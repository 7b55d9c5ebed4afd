import AMQP
import HTTPServer
import RegistryClient
import Runtime
import Shared
import Telemetry

/// Takes Linq's webhooks in: verified, read, published and confirmed before they are answered.
@main
struct IngressMain {
    static func main() async {
        await ServiceMain.start(
            "ingress", about: "takes Linq's webhooks in and hands them to the queue", settings: IngressSettings.self,
            check: check, run: run)
    }

    static func run(_ settings: IngressSettings, _ log: Log, until signals: TerminationSignals) async throws {
        let metrics = Metrics()
        let spans = SpanExporter(settings.telemetry, log: log, metrics: metrics)
        let publisher = try publisher(settings, log, metrics)
        publisher.start()
        let isStopping = Locked(false)
        let admin = try AdminServer(listen: settings.metricsListen, log: log, metrics: metrics) {
            publisher.state.reasonsNotReady + (isStopping.withLock { $0 } ? ["stopping"] : [])
        }
        try await publisher.waitUntilReady(within: .seconds(60))
        let webhooks = WebhookHandler(
            secrets: settings.secrets, publisher: publisher, partitions: settings.partitions, clock: .system, log: log,
            metrics: metrics, tracer: spans?.tracer)
        // Only events by user id need the registry: webhooks are taken without it, and neither are they waited for.
        let lookups = try settings.eventSecrets.isEmpty ? nil : lookups(settings, log, metrics)
        lookups?.startInBackground()
        let events = events(settings, lookups, publisher, log, metrics, spans?.tracer)
        let server = try HTTPServer(
            listen: settings.listen, limits: HTTPServerLimits(), name: "webhooks", log: log, metrics: metrics,
            handler: { $0.path == EventsHandler.path ? events.handle($0, $1) : webhooks.handle($0, $1) })
        log.info("ready", ["listen": "\(settings.listen.host):\(server.port)"])

        await signals.next()
        log.info("stopping")
        isStopping.withLock { $0 = true }
        server.stopAccepting()
        await server.drain(within: .seconds(10))
        await lookups?.close()
        await publisher.close()
        server.close()
        await spans?.close()
        admin.close()
    }

    private static func publisher(_ settings: IngressSettings, _ log: Log, _ metrics: Metrics) throws -> AMQPPublisher {
        guard let broker = settings.broker else { throw SettingsProblem("AMQP_URL is not usable") }
        return AMQPPublisher(
            broker, name: "ingress/publish",
            requires: TopologyRequirement.publishing(to: .inbound) + [.exchange(Topology.parkedExchange)]
                + (0..<settings.partitions).map { .queue(Stage.inbound.queue($0)) },
            log: log, metrics: metrics)
    }

    private static func lookups(
        _ settings: IngressSettings, _ log: Log, _ metrics: Metrics
    ) throws -> RegistryConnection {
        guard let broker = settings.broker else { throw SettingsProblem("AMQP_URL is not usable") }
        return RegistryConnection(broker, service: "ingress", log: log, metrics: metrics)
    }

    private static func events(
        _ settings: IngressSettings, _ lookups: RegistryConnection?, _ publisher: AMQPPublisher, _ log: Log,
        _ metrics: Metrics, _ tracer: Tracer?
    ) -> EventsHandler {
        EventsHandler(
            secrets: settings.eventSecrets, partitions: settings.partitions, clock: .system, log: log, metrics: metrics,
            tracer: tracer,
            lookUp: { userID throws(RegistryUnavailable) in
                guard let lookups else { throw RegistryUnavailable("no events are taken") }
                return try await lookups.client.lookup(user: userID)
            },
            publish: { publisher.publish($0, exchange: Stage.inbound.exchange, routingKey: $1, completion: $2) })
    }

    private static func check(_ settings: IngressSettings, _ log: Log) async -> [String] {
        do {
            let publisher = try publisher(settings, log, Metrics())
            publisher.start()
            defer { Task { await publisher.close() } }
            try await publisher.waitUntilReady(within: .seconds(10))
            return []
        } catch {
            return ["RabbitMQ: \(error)"]
        }
    }
}
