import AMQP
import HTTPClient
import HTTPServer
import Runtime
import Shared
import Stage
import Telemetry

/// Sends the agent's replies to Linq, in order within a chat.
@main
struct LinqSenderMain {
    static func main() async {
        await ServiceMain.start(
            "linq-sender", about: "sends replies to Linq, in order within a chat", settings: LinqSenderSettings.self,
            check: check, run: run)
    }

    static func run(_ settings: LinqSenderSettings, _ log: Log, until signals: TerminationSignals) async throws {
        let metrics = Metrics()
        let spans = SpanExporter(settings.telemetry, log: log, metrics: metrics)
        let broker = try connections(settings, log, metrics)
        let admin = try AdminServer(listen: settings.metricsListen, log: log, metrics: metrics) {
            broker.reasonsNotReady
        }
        try await broker.start()
        // Read marks and typing have connections of their own, so that no reply waits for one of theirs.
        let client = HTTPClient(maxConnectionsPerHost: 64 + HintSender.most, userAgent: "isthmus", log: log)
        let sender = ReplySender(
            client: client,
            request: LinqRequest(baseURL: settings.linqURL, token: settings.linqToken, replyVia: settings.replyVia),
            clock: .system, log: log, metrics: metrics)
        let job = StageJob<CloudEvent<ChatMessage>>(
            stage: .replies, prefetch: 64,
            decode: { body in
                let event = try CloudEvent<ChatMessage>(decoding: body)
                return (event.data.chat.id, event)
            }, handle: sender.handle)
        let worker = StageWorker(
            job, partitions: settings.partitions, instance: StageWorker<CloudEvent<ChatMessage>>.instanceName(),
            consumer: broker.consumer, publisher: broker.publisher, log: log, metrics: metrics,
            tracer: spans?.tracer)
        await worker.serve(until: signals, grace: .seconds(20))
        await broker.close()
        await client.close()
        await spans?.close()
        admin.close()
    }

    private static func connections(
        _ settings: LinqSenderSettings, _ log: Log, _ metrics: Metrics
    ) throws -> StageConnections {
        guard let broker = settings.broker else { throw SettingsProblem("AMQP_URL is not usable") }
        return StageConnections(
            broker, service: "linq-sender", works: .replies, partitions: settings.partitions, log: log,
            metrics: metrics)
    }

    private static func check(_ settings: LinqSenderSettings, _ log: Log) async -> [String] {
        var findings: [String] = []
        do {
            let broker = try connections(settings, log, Metrics())
            try await broker.start(within: .seconds(10))
            await broker.close()
        } catch {
            findings.append("RabbitMQ: \(error)")
        }
        do {
            let client = HTTPClient(userAgent: "isthmus", log: log)
            let request = HTTPClientRequest(
                "GET", "\(settings.linqURL)/v3/phone_numbers",
                headers: [(name: "Authorization", value: "Bearer \(settings.linqToken.reveal())")], body: [])
            let response = try await client.send(request, within: .seconds(10))
            if response.status == 401 { findings.append("Linq: LINQ_API_TOKEN is not accepted") }
            await client.close()
        } catch {
            findings.append("Linq: \(error)")
        }
        return findings
    }
}
