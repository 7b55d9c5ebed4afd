import AMQP
import Foundation
import RegistryClient
import Runtime
import Telemetry

/// The settings of `token-registry`.
struct RegistrySettings: ServiceSettings {
    let broker: AMQPEndpoint?
    let partitions: Int
    let redisURL: Secret<String>?
    let databaseURL: Secret<String>
    let listen: ListenAddress
    let metricsListen: ListenAddress
    let keys: CacheKeys?
    let backendKeys: [Secret<String>]
    let signIn: SignIn?
    let callsPerMinute: Int
    let telemetry: TelemetrySettings
    let logLevel: Log.Level

    /// What the app's own sign-in tokens are checked against.
    struct SignIn: Sendable {
        let keysFile: String
        let audience: String
        let issuer: String
    }

    init(_ settings: inout Settings) {
        broker = settings.broker()
        partitions = settings.partitions()
        redisURL = settings.redisURL()
        databaseURL = settings.optional(
            "DATABASE_URL", "sqlite:PATH or postgres://…", default: "sqlite:token-registry.sqlite"
        ) { Secret($0) }
        listen = settings.optional(
            "HTTP_LISTEN", "where the app and the backend call, ADDRESS:PORT", default: "127.0.0.1:8084",
            ListenAddress.init)
        metricsListen = settings.metricsListen(default: "127.0.0.1:9084")
        keys = settings.cacheKeys()
        backendKeys = Self.backendKeys(&settings)
        signIn = Self.signIn(&settings)
        callsPerMinute = settings.optional(
            "REGISTRY_CALLS_PER_MINUTE", "calls a minute that are taken for one user", default: "120"
        ) { text in Int(text).flatMap { (1...1_000_000).contains($0) ? $0 : nil } }
        telemetry = settings.telemetry(service: "token-registry")
        logLevel = settings.logLevel()
        if backendKeys.isEmpty && signIn == nil {
            settings.reject("set REGISTRY_BACKEND_KEYS or REGISTRY_JWT_KEYS_FILE: without both nobody can call")
        }
    }

    private static func backendKeys(_ settings: inout Settings) -> [Secret<String>] {
        let shortest = 16
        return settings.absent(
            "REGISTRY_BACKEND_KEYS", "keys of your own server, \(shortest) characters or more each, comma-separated"
        ) { text in
            let keys = text.split(separator: ",", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            guard keys.allSatisfy({ $0.utf8.count >= shortest }) else {
                throw SettingsProblem("a key has fewer than \(shortest) characters")
            }
            return keys.map { Secret($0) }
        } ?? []
    }

    private static func signIn(_ settings: inout Settings) -> SignIn? {
        let file = settings.absent(
            "REGISTRY_JWT_KEYS_FILE", "JWK set of your app's sign-in; read again when it changes"
        ) {
            $0
        }
        let audience = settings.absent("REGISTRY_JWT_AUDIENCE", "the aud that a token must have") { $0 }
        let issuer = settings.absent("REGISTRY_JWT_ISSUER", "the iss that a token must have") { $0 }
        guard let file else { return nil }
        guard let audience, let issuer else {
            settings.reject("REGISTRY_JWT_KEYS_FILE needs REGISTRY_JWT_AUDIENCE and REGISTRY_JWT_ISSUER")
            return nil
        }
        return SignIn(keysFile: file, audience: audience, issuer: issuer)
    }
}
