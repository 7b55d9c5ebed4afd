import AMQP
import Crypto
import Foundation
import Runtime
import Telemetry

/// The settings of `ingress`.
struct IngressSettings: ServiceSettings {
    let broker: AMQPEndpoint?
    let partitions: Int
    let listen: ListenAddress
    let metricsListen: ListenAddress
    let secrets: [WebhookSecret]
    let telemetry: TelemetrySettings
    /// Empty: no events are taken.
    let eventSecrets: [WebhookSecret]
    let logLevel: Log.Level

    init(_ settings: inout Settings) {
        broker = settings.broker()
        partitions = settings.partitions()
        listen = settings.optional(
            "HTTP_LISTEN", "where Linq's webhooks come in, ADDRESS:PORT", default: "127.0.0.1:8080",
            ListenAddress.init)
        metricsListen = settings.metricsListen(default: "127.0.0.1:9080")
        secrets = settings.required(
            "LINQ_WEBHOOK_SECRETS", "the webhook subscriptions' secrets (whsec_…), comma-separated, newest first",
            placeholder: [], WebhookSecret.list)
        telemetry = settings.telemetry(service: "ingress")
        eventSecrets =
            settings.absent(
                "EVENTS_WEBHOOK_SECRETS",
                "what your own backend signs its events with (whsec_…), comma-separated; without it none are taken",
                WebhookSecret.list) ?? []
        logLevel = settings.logLevel()
    }
}

extension WebhookSecret {
    /// Reads a comma-separated list; one that is empty or holds a bad secret is refused.
    static func list(_ text: String) throws -> [WebhookSecret] {
        let secrets = try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let trimmed = part.trimmingCharacters(in: .whitespacesAndNewlines)
            guard let secret = WebhookSecret(trimmed) else {
                throw SettingsProblem("expected whsec_ and base64, comma-separated")
            }
            return secret
        }
        return secrets
    }
}
