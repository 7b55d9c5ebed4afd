import AMQP
import Cache
import Crypto
import Database
import Foundation
import HTTPServer
import RegistryClient
import Runtime
import Shared
import TestSupport
import Testing

@testable import TokenRegistry

/// A registry without its connections to the broker: real database, real HTTP handler, a clock that stands still.
struct Bench: Sendable {
    static let backendKey = "a-backend-key-of-the-tests"

    let clock = ManualClock()
    let database: Database
    let store: RegistryStore
    let outbox: Outbox
    let api: RegistryAPI
    let signer: Signer
    let published: Locked<[AMQPMessage]>
    /// What the next publishes throw.
    let brokerFailure: Locked<PublishError?>
    let log: Log
    let logLines: Locked<[String]>
    let metrics: Metrics

    static let keys = CacheKeys.test(id: "k1")

    /// Runs `body` over a new SQLite file in a folder of its own.
    static func with<R>(
        keys: CacheKeys = Bench.keys, redis: RedisClient? = nil, callsPerMinute: Int = 100_000,
        _ body: (Bench) async throws -> R
    ) async throws -> R {
        try await TemporaryDirectory.with { folder in
            try await with(
                url: "sqlite:\(folder)/registry.sqlite", keys: keys, redis: redis, callsPerMinute: callsPerMinute, body)
        }
    }

    /// Runs `body` over the database at `url`.
    static func with<R>(
        url: String, keys: CacheKeys = Bench.keys, redis: RedisClient? = nil, callsPerMinute: Int = 100_000,
        _ body: (Bench) async throws -> R
    ) async throws -> R {
        let lines = Locked<[String]>([])
        let log = Log(service: "test", level: .debug) { line in lines.withLock { $0.append(line) } }
        var limits = DatabaseLimits()
        limits.statementTimeout = .seconds(60)  // A busy machine is no failure.
        limits.waitTimeout = .seconds(60)
        let database = try await Database.open(url, limits: limits, log: log, metrics: Metrics())
        let result: Result<R, any Error>
        do {
            try await database.migrate(Migrations.all, scope: Migrations.scope)
            let bench = try await Bench(
                database, keys: keys, redis: redis, callsPerMinute: callsPerMinute, log: log, lines)
            result = .success(try await body(bench))
        } catch { result = .failure(error) }
        await database.close()
        return try result.get()
    }

    private init(
        _ database: Database, keys: CacheKeys, redis: RedisClient?, callsPerMinute: Int, log: Log,
        _ logLines: Locked<[String]>
    ) async throws {
        self.logLines = logLines
        self.database = database
        self.log = log
        let metrics = Metrics()
        self.metrics = metrics
        let published = Locked<[AMQPMessage]>([])
        let brokerFailure = Locked<PublishError?>(nil)
        self.published = published
        self.brokerFailure = brokerFailure
        signer = try Signer()
        store = RegistryStore(
            database: database, vault: Vault(keys), clock: clock.wallClock, instance: UUID().uuidString,
            hasCache: redis != nil)
        let cache = redis.map { RegistryCache(redis: $0, keys: keys, metrics: metrics) }
        outbox = Outbox(store: store, cache: cache, partitions: 16, log: log, metrics: metrics) {
            message, _ throws(PublishError) in
            if let failure = brokerFailure.withLock({ $0 }) { throw failure }
            published.withLock { $0.append(message) }
        }
        let keySet = try signer.keys(log)
        api = RegistryAPI(
            store: store, outbox: outbox,
            authenticator: Authenticator(
                backendKeys: [Bench.backendKey],
                tokens: JWTVerifier(
                    keys: keySet, issuer: Signer.issuer, audience: Signer.audience, clock: clock.wallClock)),
            rateLimit: RateLimit(perMinute: callsPerMinute), log: log, figures: Figures(metrics))
    }

    /// Calls the HTTP handler; `by` is a backend key or a token.
    func call(
        _ method: String, _ target: String, _ body: String? = nil, by credential: String? = Bench.backendKey,
        headers: [(name: String, value: String)] = []
    ) async throws -> HTTPResponse {
        var headers = headers
        if let credential { headers.append(("Authorization", "Bearer \(credential)")) }
        if body != nil { headers.append(("Content-Type", "application/json")) }
        let request = try #require(
            HTTPRequest(method: method, target: target, headers: headers, body: Array((body ?? "").utf8)))
        return await api.respond(to: request)
    }

    /// Works the outbox until nothing is left and returns the events that were published, with their partition keys.
    func events() async throws -> [InboundEvent] {
        while try await outbox.workBatch() {}
        return try published.withLock { messages in
            defer { messages = [] }
            return try messages.map { try CloudEvent<InboundEvent>(decoding: $0.body).data }
        }
    }

    func record(_ handle: String) async throws -> RegistryRecord { try await store.record(of: handle) }

    func start(
        _ session: String, user: String = "sam", device: String = "phone", generation: Int = 0, request: String = "r"
    ) async throws -> User.StartVerdict {
        let start = RegistryStart(
            userID: user, deviceID: device, attributesType: "Coach", sessionID: session, generation: generation)
        let id = UUID().uuidString
        let (verdict, committed) = try await store.change(user) {
            $0.grantStart(start, request: request, id: id, at: $1)
        }
        await outbox.follow(committed)
        return verdict
    }

    func perform(_ command: RegistryCommand) async throws {
        try await Commands(store: store, outbox: outbox, log: log, figures: Figures(metrics)).perform(command)
    }

    /// Registers sam with a phone number and a start token, and forgets the events of that.
    func registerSam() async throws {
        _ = try await call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
        _ = try await call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("aa"))
        _ = try await events()
    }
}

extension CacheKeys {
    static func test(id: String, alsoOpens older: String? = nil) -> CacheKeys {
        func key(_ id: String) throws -> AESGCMKey { try AESGCMKey(id: id, key: SHA256.hash(Array(id.utf8))) }
        do {
            let ring = try Keyring([try key(id)] + (older.map { [try key($0)] } ?? []))
            return CacheKeys(hash: HMACKey(Array("a hash key of the tests".utf8)), sealing: ring)
        } catch { preconditionFailure("\(error)") }
    }
}

/// A token of 64 digits.
func token(_ digits: String) -> String { String(repeating: digits, count: 64 / digits.utf8.count) }

func startToken(_ digits: String, _ more: String = "") -> String {
    #"{"attributesType":"Coach","token":"\#(token(digits))"\#(more)}"#
}

func activity(_ digits: String, session: String? = nil, _ more: String = "") -> String {
    let session = session.map { #","sessionID":"\#($0)""# } ?? ""
    return #"{"attributesType":"Coach","token":"\#(token(digits))"\#(session)\#(more)}"#
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// The customer's sign-in: makes tokens.
struct Signer: Sendable {
    static let issuer = "https://sign-in.example"
    static let audience = "isthmus"

    let key: ES256PrivateKey

    init() throws { key = try ES256PrivateKey.generate() }

    var jwks: String {
        let point = key.publicJWK
        return #"{"keys":[{"kty":"EC","crv":"P-256","kid":"one","alg":"ES256","x":"\#(point.x)","y":"\#(point.y)"}]}"#
    }

    func keys(_ log: Log) throws -> JWTKeys {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("jwks-\(UUID().uuidString).json").path
        try Data(jwks.utf8).write(to: URL(fileURLWithPath: path))
        // Read once below; a leftover file is no reason for a test to fail.
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try JWTKeys(path: path, log: log)
    }

    /// A token of these claims; `header` and `claims` are JSON.
    func sign(header: String = #"{"alg":"ES256","kid":"one","typ":"JWT"}"#, claims: String) throws -> String {
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        return signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
    }

    /// A good token for `user`, with more claims if wanted.
    func token(_ user: String, _ more: String = "", at clock: ManualClock) throws -> String {
        let now = Int(clock.now.timeIntervalSince1970)
        return try sign(
            claims: #"{"iss":"\#(Self.issuer)","aud":"\#(Self.audience)","sub":"\#(user)","exp":\#(now + 600)\#(more)}"#
        )
    }
}
