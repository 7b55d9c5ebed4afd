import Foundation
import Runtime
import Shared

/// The simulator's settings.
struct SimulatorConfig: ServiceSettings {
    let logLevel: Log.Level
    let listen: ListenAddress
    /// Its page's listener says how it is, too.
    var metricsListen: ListenAddress { listen }
    let apnsListen: ListenAddress
    let directory: String
    let linqToken: Secret<String>
    let webhookSecrets: [Secret<String>]
    let ingressURL: String?
    let registryURL: String?
    let backendKey: Secret<String>
    let teamID: String
    let keyID: String
    let keyFile: String?
    let bundleID: String
    let environment: APNSEnvironment
    let issuer: String?
    let audience: String?
    let attributesTypes: [String]
    let line: String
    let onboards: Bool
    let sendsReceipts: Bool
    let brokerURL: String?
    let supervisor: String?
    let agent: String

    init(_ settings: inout Settings) {
        logLevel = settings.logLevel()
        listen = settings.optional(
            "SIMULATOR_LISTEN", "where the page, Linq's API and the controls are", default: "127.0.0.1:0",
            ListenAddress.init)
        apnsListen = settings.optional(
            "SIMULATOR_APNS_LISTEN", "where APNs is", default: "127.0.0.1:0", ListenAddress.init)
        directory = settings.required(
            "SIMULATOR_DIRECTORY", "the folder that `simulator prepare` filled", placeholder: ""
        ) { $0 }
        linqToken = settings.required(
            "LINQ_API_TOKEN", "the bearer token that Linq's API takes", placeholder: Secret("")
        ) { Secret($0) }
        webhookSecrets = settings.required(
            "LINQ_WEBHOOK_SECRETS", "what webhooks are signed with, whsec_…; the first of a list", placeholder: []
        ) { text in text.split(separator: ",").map { Secret(String($0)) } }
        ingressURL = settings.absent("SIMULATOR_INGRESS_URL", "where webhooks go, whole") { $0 }
        registryURL = settings.absent("SIMULATOR_REGISTRY_URL", "the registry that the apps register with") {
            $0.hasSuffix("/") ? String($0.dropLast()) : $0
        }
        backendKey = settings.optional(
            "SIMULATOR_BACKEND_KEY", "the registry's key for the customer's backend", default: "none"
        ) { Secret($0) }
        teamID = settings.required("APNS_TEAM_ID", "the team in provider tokens", placeholder: "") { $0 }
        keyID = settings.required("APNS_KEY_ID", "the key in provider tokens", placeholder: "") { $0 }
        keyFile = settings.absent("APNS_KEY_FILE", "the .p8 key of provider tokens; else apns-key.p8 in the folder") {
            $0
        }
        bundleID = settings.required("APNS_BUNDLE_ID", "the app's bundle id", placeholder: "") { $0 }
        environment = settings.optional(
            "APNS_ENVIRONMENT", "production or sandbox", default: "production", APNSEnvironment.init(rawValue:))
        issuer = settings.absent("REGISTRY_JWT_ISSUER", "the `iss` of the app's tokens") { $0 }
        audience = settings.absent("REGISTRY_JWT_AUDIENCE", "the `aud` of the app's tokens") { $0 }
        attributesTypes = settings.optional(
            "SIMULATOR_ATTRIBUTES_TYPES", "what the app registers start tokens for",
            default: IslandKind.all.map(\.attributesType).joined(separator: ",")
        ) { text in text.split(separator: ",").map(String.init) }
        line = settings.optional("SIMULATOR_LINE", "the number that people write to", default: "+12025551234") {
            isHandle($0) ? $0 : nil
        }
        onboards = settings.optional(
            "SIMULATOR_ONBOARD", "whether somebody new gets an account and a phone: yes or no", default: "yes"
        ) { ["yes": true, "no": false][$0] }
        sendsReceipts = settings.optional(
            "SIMULATOR_RECEIPTS", "whether webhooks tell of what the line sent: yes or no", default: "no"
        ) { ["yes": true, "no": false][$0] }
        brokerURL = settings.absent(
            "SIMULATOR_BROKER_URL", "where RabbitMQ tells Prometheus its figures, http://…, for the queues' depths"
        ) { text in URLComponents(string: text)?.host == nil ? nil : text }
        supervisor = settings.absent(
            "SIMULATOR_SUPERVISOR", "a pipe to whoever runs the services, for the page's buttons that kill them"
        ) { $0 }
        agent = settings.optional("AGENT", "who answers, for the page to show", default: "coach") { $0 }
    }
}
