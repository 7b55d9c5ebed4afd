import AMQP
import APNSClient
import Cache
import HTTP2
import HTTPServer
import RegistryClient
import Runtime
import Shared
import Stage
import Telemetry

/// Makes the phones show what their Islands should show.
@main
struct APNSPusherMain {
    static func main() async {
        await ServiceMain.start(
            "apns-pusher", about: "pushes Live Activity starts, updates and ends to APNs",
            settings: APNSPusherSettings.self, check: check, run: run)
    }

    static func run(_ settings: APNSPusherSettings, _ log: Log, until signals: TerminationSignals) async throws {
        guard let endpoint = settings.broker, let key = settings.key, let cacheKeys = settings.cacheKeys else {
            throw SettingsProblem("the settings are not complete")
        }
        let metrics = Metrics()
        let spans = SpanExporter(settings.telemetry, log: log, metrics: metrics)
        let broker = StageConnections(
            endpoint, service: "apns-pusher", works: .islands, partitions: settings.partitions,
            publishes: [.exchange(Topology.registryExchange), .queue(Topology.commandsQueue)], log: log,
            metrics: metrics)
        let lookups = try RegistryConnection(
            endpoint, redisURL: settings.redisURL, keys: cacheKeys, service: "apns-pusher", log: log, metrics: metrics)
        let admin = try AdminServer(listen: settings.metricsListen, log: log, metrics: metrics) {
            broker.reasonsNotReady + lookups.reasonsNotReady
        }
        try await broker.start()
        try await lookups.start()
        let providerToken = ProviderToken(
            key: key, keyID: settings.keyID, teamID: settings.teamID, clock: .system)
        let gateway = try APNSGateway(
            settings.addresses, caFile: settings.caFile, clock: .system, log: log, metrics: metrics)
        let pusher = IslandPusher(
            registry: lookups.client, commands: RegistryCommands(publisher: broker.publisher, clock: .system),
            delivery: PushDelivery(
                gateway: gateway, providerToken: providerToken, clock: .system, log: log,
                retried: metrics.counter(
                    "isthmus_stage_retried_total", "Tries of a message after the first.",
                    ["stage": Stage.islands.rawValue])),
            bundleID: settings.bundleID, environment: settings.environment, clock: .system, log: log,
            metrics: metrics)
        let job = StageJob<CloudEvent<DesiredIsland>>(
            stage: .islands, prefetch: 64,
            decode: { body in
                let event = try CloudEvent<DesiredIsland>(decoding: body)
                return (event.data.handle, event)
            }, isSuperseded: IslandPusher.isSuperseded, handle: pusher.handle)
        let worker = StageWorker(
            job, partitions: settings.partitions, instance: StageWorker<CloudEvent<DesiredIsland>>.instanceName(),
            consumer: broker.consumer, publisher: broker.publisher, log: log, metrics: metrics,
            tracer: spans?.tracer)
        await worker.serve(until: signals, grace: .seconds(20))
        await broker.close()
        await lookups.close()
        await gateway.close()
        await spans?.close()
        admin.close()
    }

    private static func check(_ settings: APNSPusherSettings, _ log: Log) async -> [String] {
        guard let endpoint = settings.broker, let cacheKeys = settings.cacheKeys else { return [] }
        var findings: [String] = []
        let broker = StageConnections(
            endpoint, service: "apns-pusher", works: .islands, partitions: settings.partitions, log: log,
            metrics: Metrics())
        do { try await broker.start(within: .seconds(10)) } catch { findings.append("RabbitMQ: \(error)") }
        await broker.close()
        do {
            let lookups = try RegistryConnection(
                endpoint, redisURL: settings.redisURL, keys: cacheKeys, service: "apns-pusher", log: log,
                metrics: Metrics())
            try await lookups.start(within: .seconds(10))
            await lookups.close()
        } catch {
            findings.append("token-registry: \(error)")
        }
        return findings
    }
}
