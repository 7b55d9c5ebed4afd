import Cache
import HTTPServer
import Runtime
import Telemetry

/// Keeps whose handle, device, token and card is whose.
@main
struct TokenRegistryMain {
    private static let connectTimeout: Duration = .seconds(60)
    private static let drainTime: Duration = .seconds(10)

    static func main() async {
        await ServiceMain.start(
            "token-registry", about: "keeps handles, users, devices and push tokens", settings: RegistrySettings.self,
            check: check, run: run)
    }

    private static func run(
        _ settings: RegistrySettings, _ log: Log, until signals: TerminationSignals
    ) async throws {
        let metrics = Metrics()
        let spans = SpanExporter(settings.telemetry, log: log, metrics: metrics)
        let registry = try await Registry.open(settings, log, metrics, tracer: spans?.tracer)
        let isStopping = Locked(false)
        let admin = try AdminServer(listen: settings.metricsListen, log: log, metrics: metrics) {
            isStopping.withLock { $0 } ? ["stopping"] : registry.reasonsNotReady
        }
        try await registry.connect(within: connectTimeout)
        var limits = HTTPServerLimits()
        limits.maxBody = RequestBody.mostBytes
        limits.maxConnectionsPerAddress = nil  // Apps and backends come through a balancer of few addresses.
        let server = try HTTPServer(
            listen: settings.listen, limits: limits, name: "registry", log: log, metrics: metrics
        ) { request in await registry.api.respond(to: request) }
        log.info("ready", ["listen": "\(settings.listen.host):\(server.port)", "metrics": "\(admin.port)"])

        let work = Task { await registry.run() }
        await signals.next()
        isStopping.withLock { $0 = true }
        server.stopAccepting()
        await server.drain(within: drainTime)
        work.cancel()
        await work.value
        await registry.flush()
        server.close()
        await registry.close()
        await spans?.close()
        admin.close()
    }

    private static func check(_ settings: RegistrySettings, _ log: Log) async -> [String] {
        let limit = Duration.seconds(5)
        let registry: Registry
        do {
            registry = try await Registry.open(settings, log, Metrics())
        } catch {
            return ["\(error)"]
        }
        var findings: [String] = []
        do { try await registry.connect(within: limit) } catch { findings.append("RabbitMQ: \(error)") }
        do { try await registry.redis?.waitUntilConnected(within: limit) } catch { findings.append("cache: \(error)") }
        await registry.close()
        return findings
    }
}
