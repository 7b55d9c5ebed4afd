import AMQP
import Crypto
import RegistryClient
import Runtime
import Stage
import Telemetry

/// The settings of `agent`.
struct AgentSettings: ServiceSettings {
    let broker: AMQPEndpoint?
    let partitions: Int
    let redisURL: Secret<String>?
    let cacheKeys: CacheKeys?
    let databaseURL: Secret<String>
    let metricsListen: ListenAddress
    let agent: AnyAgent?
    /// What `--check` looks at if the agent is elsewhere.
    let probe: AgentProbe?
    let sessionIdle: Duration
    let staleAfter: Duration
    let telemetry: TelemetrySettings
    let hints: ChatHints.Choice
    let logLevel: Log.Level

    init(_ settings: inout Settings) {
        broker = settings.broker()
        partitions = settings.partitions()
        redisURL = settings.redisURL()
        cacheKeys = settings.cacheKeys()
        databaseURL = settings.optional(
            "DATABASE_URL", "sqlite:PATH, or postgres://… when several replicas share it",
            default: "sqlite:agent.sqlite"
        ) { Secret($0) }
        metricsListen = settings.metricsListen(default: "127.0.0.1:9081")
        sessionIdle = settings.duration(
            "SESSION_IDLE", "the silence after which a session is over and its card goes", default: "30m")
        staleAfter = settings.duration(
            "STALE_AFTER", "after which a state that got no newer looks stale", default: "1h")
        telemetry = settings.telemetry(service: "agent")
        hints = ChatHints.Choice(
            marksRead: settings.flag(
                "LINQ_READ_RECEIPTS", "whether texts are marked as read when they are taken", default: true),
            showsTyping: settings.flag(
                "LINQ_TYPING", "whether Linq shows typing while the agent takes longer than a second", default: true))
        logLevel = settings.logLevel()
        (agent, probe) = AgentChoice.chosen(&settings, log: Log(service: "agent", level: logLevel))
    }
}
