import Crypto
import Foundation
import HTTPClient
import Runtime
import Shared
import TestSupport
import Testing

/// The token-registry itself, as it is deployed: its own process, with SQLite and a broker.
///
/// Like every server of a phone it may be away, and come back at the same address.
final class RealRegistry: Sendable {
    static let backendKey = "backend-key-of-the-tests"
    static let issuer = "https://sign-in.example"
    static let audience = "isthmus"

    let url: String
    private let environment: [String: String]
    private let folder: String
    private let process = Locked<LocalProcess?>(nil)
    private let key: ES256PrivateKey
    private let http: HTTPClient

    private init(folder: String, broker: RabbitMQServer) throws {
        self.folder = folder
        key = try ES256PrivateKey.generate()
        let port = try freePort()
        url = "http://127.0.0.1:\(port)"
        http = HTTPClient(userAgent: "test", log: Log(service: "test", level: .error) { _ in })
        let point = key.publicJWK
        let jwk = #"{"kty":"EC","crv":"P-256","kid":"one","alg":"ES256","x":"\#(point.x)","y":"\#(point.y)"}"#
        let files = [
            "hash": "a hash key of the tests",
            "data": "k1:\(Data(repeating: 7, count: 32).base64EncodedString())",
            "jwks": #"{"keys":[\#(jwk)]}"#,
        ]
        for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
        environment = [
            "AMQP_URL": broker.amqpURL, "DATABASE_URL": "sqlite:\(folder)/registry.sqlite", "PARTITIONS": "2",
            "HASH_KEY_FILE": "\(folder)/hash", "DATA_KEY_FILES": "\(folder)/data",
            "REGISTRY_BACKEND_KEYS": Self.backendKey, "REGISTRY_JWT_KEYS_FILE": "\(folder)/jwks",
            "REGISTRY_JWT_AUDIENCE": Self.audience, "REGISTRY_JWT_ISSUER": Self.issuer,
            "HTTP_LISTEN": "127.0.0.1:\(port)", "METRICS_LISTEN": "127.0.0.1:0",
        ]
    }

    /// Runs `body` with a registry that is up, and takes it down afterwards whatever happens.
    static func with(_ body: (RealRegistry) async throws -> Void) async throws {
        let definitions = try Topology(partitions: 2).definitions(vhost: "/")
        let broker = try await PrivateRabbitMQ.shared("app", definitions: String(decoding: definitions, as: UTF8.self))
        try await TemporaryDirectory.with { folder in
            let registry = try RealRegistry(folder: folder, broker: broker)
            let result: Result<Void, any Error>
            do {
                try await registry.start()
                result = .success(try await body(registry))
            } catch { result = .failure(error) }
            registry.kill()
            await registry.http.close()
            try result.get()
        }
    }

    func start() async throws {
        // Beside the test bundle, because both are products of the same build.
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        let log = "\(folder)/registry.log"
        let started = try LocalProcess.start(
            "\(products)/token-registry", [], environment: environment, logFile: log)
        process.withLock { $0 = started }
        try await eventually("the registry answers") {
            guard started.isRunning else {
                throw Unexpected(what: (try? String(contentsOfFile: log, encoding: .utf8)) ?? "no log")
            }
            return try await self.get("/openapi.json").status == 200
        }
    }

    /// As if the power had gone.
    func kill() {
        process.withLock { process in
            process?.kill()
            process = nil
        }
    }

    /// A JWT of the user's sign-in.
    ///
    /// - Parameter lifetime: In seconds; negative: it has expired.
    func jwt(_ userID: String, lifetime: Int = 600) throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        let claims =
            #"{"iss":"\#(Self.issuer)","aud":"\#(Self.audience)","sub":"\#(userID)","exp":\#(now + lifetime)}"#
        let signed =
            Base64URL.encode(Array(#"{"alg":"ES256","kid":"one","typ":"JWT"}"#.utf8)) + "."
            + Base64URL.encode(Array(claims.utf8))
        return signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
    }

    /// What the registry knows of a user, as the backend is shown it.
    func view(_ userID: String) async throws -> View {
        let answer = try await get("/v1/users/\(userID)")
        if answer.status == 404 { return View(devices: []) }
        return try JSONDecoder().decode(View.self, from: Data(answer.body))
    }

    private func get(_ target: String) async throws -> HTTPClientResponse {
        try await http.send(
            HTTPClientRequest("GET", url + target, headers: [("Authorization", "Bearer \(Self.backendKey)")]),
            within: .seconds(30))
    }

    struct View: Decodable, Equatable {
        var timeZone: String?
        var locale: String?
        let devices: [Device]

        struct Device: Decodable, Equatable {
            let deviceID: String
            let startTokens: [StartToken]
            let activities: [Activity]
        }

        /// Tokens are cut short.
        struct StartToken: Decodable, Equatable {
            let attributesType: String
            let token: String
            let environment: String?
            let bundleID: String?
            let wantsInputPushToken: Bool
        }

        struct Activity: Decodable, Equatable {
            let activityID: String?
            let sessionID: String?
            let state: String
            let token: String?
        }

        /// Start tokens of all devices, the first eight digits of each.
        var startTokens: [String] { devices.flatMap(\.startTokens).map(\.token) }

        /// "A live", of all devices.
        var cards: [String] {
            devices.flatMap(\.activities).map { "\($0.activityID ?? "?") \($0.state)" }.sorted()
        }
    }
}
