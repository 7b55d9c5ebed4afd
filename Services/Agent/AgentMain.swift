import AMQP
import Database
import HTTPServer
import RegistryClient
import Runtime
import Shared
import Stage
import Telemetry

/// Runs the agent: one user's events strictly in order, many users at once.
@main
struct AgentMain {
    static func main() async {
        await ServiceMain.start(
            "agent", about: "runs the agent, one user's events strictly in order", settings: AgentSettings.self,
            check: check, run: run)
    }

    static func run(_ settings: AgentSettings, _ log: Log, until signals: TerminationSignals) async throws {
        guard let endpoint = settings.broker, let keys = settings.cacheKeys, let agent = settings.agent else {
            throw SettingsProblem("the settings are not complete")
        }
        let metrics = Metrics()
        let spans = SpanExporter(settings.telemetry, log: log, metrics: metrics)
        let store = try await openStore(settings, keys, log, metrics)
        let broker = connections(endpoint, settings, log, metrics)
        let lookups = try RegistryConnection(
            endpoint, redisURL: settings.redisURL, keys: keys, service: "agent", log: log, metrics: metrics)
        let admin = try AdminServer(listen: settings.metricsListen, log: log, metrics: metrics) {
            broker.reasonsNotReady + lookups.reasonsNotReady
        }
        try await broker.start()
        try await lookups.start()
        let turn = Turn(
            agent: agent, rules: SessionRules(idle: settings.sessionIdle), staleAfter: settings.staleAfter,
            partitions: settings.partitions, marksRead: settings.hints.marksRead)
        let hints = ChatHints(choice: settings.hints, partitions: settings.partitions, clock: .system) {
            // Nobody waits for a hint, and one that is lost is not missed.
            broker.publisher.publish($0, exchange: Stage.replies.exchange, routingKey: $1) { _ in }
        }
        let handler = EventHandler(
            turn: turn, hints: hints, store: store, registry: lookups.client, publisher: broker.publisher,
            partitions: settings.partitions, clock: .system, log: log, metrics: metrics)
        let job = StageJob<CloudEvent<InboundEvent>>(
            stage: .inbound, prefetch: prefetch(settings),
            decode: { body in
                let event = try CloudEvent<InboundEvent>(decoding: body)
                return (event.data.handle, event)
            }, handle: handler.handle)
        let worker = StageWorker(
            job, partitions: settings.partitions, instance: StageWorker<CloudEvent<InboundEvent>>.instanceName(),
            consumer: broker.consumer, publisher: broker.publisher, log: log, metrics: metrics,
            tracer: spans?.tracer)
        let stop = StopSignal()
        let sessions = DueClock(
            complaint: "sessions that are due wait", patience: 30, publisher: broker.publisher,
            partitions: settings.partitions, owned: { worker.owned }, clock: .system, log: log
        ) { now, partitions in try await store.due(at: now, partitions: partitions) }
        let laneCount = AgentMetrics.deferredLanes(metrics)
        let lanes = DueClock(
            complaint: "deferred lanes wait", patience: 90, publisher: broker.publisher,
            partitions: settings.partitions, owned: { worker.owned }, clock: .system, log: log
        ) { now, partitions in
            laneCount.set(try await store.deferred.count())
            return try await store.deferred.due(at: now, partitions: partitions)
        }
        let inbox = InboxPruning(store: store, clock: .system, log: log)
        await withDiscardingTaskGroup { group in
            group.addTask { await sessions.run(until: stop) }
            group.addTask { await lanes.run(until: stop) }
            group.addTask { await inbox.run(until: stop) }
            group.addTask { await store.resealing.run(log) { stop.isFired } }
            await worker.serve(until: signals, grace: .seconds(25))
            stop.fire()
        }
        await broker.close()
        await lookups.close()
        await store.close()
        await spans?.close()
        admin.close()
    }

    /// How many events of a partition are in hand at a time.
    ///
    /// An agent that is elsewhere takes its time, and as many go on side by side. One in this process needs enough to
    /// fill a commit from all partitions, and more would only take memory.
    private static func prefetch(_ settings: AgentSettings) -> UInt16 {
        settings.probe == nil ? UInt16(min(max(512 / settings.partitions, 8), 64)) : 64
    }

    private static func connections(
        _ endpoint: AMQPEndpoint, _ settings: AgentSettings, _ log: Log, _ metrics: Metrics
    ) -> StageConnections {
        StageConnections(
            endpoint, service: "agent", works: .inbound, partitions: settings.partitions,
            publishes: [Stage.inbound, .replies, .islands].flatMap { TopologyRequirement.publishing(to: $0) },
            log: log, metrics: metrics)
    }

    private static func openStore(
        _ settings: AgentSettings, _ keys: CacheKeys, _ log: Log, _ metrics: Metrics
    ) async throws -> AgentStore {
        let database = try await Database.open(settings.databaseURL.reveal(), log: log, metrics: metrics)
        let store = AgentStore(database, hashKey: keys.hash, keyring: keys.sealing)
        try await store.migrate()
        return store
    }

    private static func check(_ settings: AgentSettings, _ log: Log) async -> [String] {
        guard let endpoint = settings.broker, let keys = settings.cacheKeys else { return [] }
        var findings: [String] = []
        do {
            let store = try await openStore(settings, keys, log, Metrics())
            try await store.probe()
            await store.close()
        } catch {
            findings.append("database: \(error)")
        }
        let broker = connections(endpoint, settings, log, Metrics())
        do { try await broker.start(within: .seconds(10)) } catch { findings.append("RabbitMQ: \(error)") }
        await broker.close()
        if let finding = await settings.probe?.finding(log) { findings.append(finding) }
        return findings
    }
}
