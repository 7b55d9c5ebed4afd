import AMQP
import Foundation
import Runtime
import Telemetry

/// The settings of `linq-sender`.
struct LinqSenderSettings: ServiceSettings {
    /// Which of Linq's endpoints a direct chat's reply goes to.
    enum ReplyVia: String, Sendable {
        /// `POST /v3/messages` with `to`: Linq picks the line.
        case messages
        /// `POST /v3/chats/{chatId}/messages`: the reply stays on its line.
        case chat
    }

    let broker: AMQPEndpoint?
    let partitions: Int
    let metricsListen: ListenAddress
    let linqURL: String
    let linqToken: Secret<String>
    let replyVia: ReplyVia
    let telemetry: TelemetrySettings
    let logLevel: Log.Level

    init(_ settings: inout Settings) {
        broker = settings.broker()
        partitions = settings.partitions()
        metricsListen = settings.metricsListen(default: "127.0.0.1:9082")
        linqURL = settings.optional(
            "LINQ_API_URL", "Linq's Partner API, without /v3", default: "https://api.linqapp.com/api/partner",
            Self.baseURL)
        linqToken = Secret(
            settings.required("LINQ_API_TOKEN", "the bearer token for Linq's API", placeholder: "") { text in
                text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? text : nil
            })
        replyVia = settings.optional(
            "LINQ_REPLY_VIA", "where replies to a direct chat go: messages or chat", default: "messages",
            ReplyVia.init(rawValue:))
        telemetry = settings.telemetry(service: "linq-sender")
        logLevel = settings.logLevel()
    }

    private static func baseURL(_ text: String) -> String? {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host() != nil else { return nil }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
