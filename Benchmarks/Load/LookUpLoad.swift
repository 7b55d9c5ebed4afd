import AMQP
import Cache
import Database
import Foundation
import RegistryClient
import Runtime
import Shared

/// Look-ups of many handles, one after the other and many at once, beside bare commands of Redis.
enum LookUpLoad {
    struct Figures: Encodable {
        /// A second, each of one task after the other.
        let warm, cold, bareGet, select: Double
        /// A second, 64 at once.
        let warmTogether, coldTogether, bareGetTogether: Double
    }

    static func run(_ options: [String: String]) async throws -> any Encodable {
        let users = try options.number("users")
        let count = try options.number("count", default: 5000)
        let log = Log(service: "load", level: .warning)
        let redisURL = try options.text("redis")
        let keys = try CacheKeys(
            hashKeyFile: try options.text("hash-key-file"), dataKeyFiles: try options.text("data-key-file"))
        let lookups = try RegistryConnection(
            try AMQPEndpoint(url: try options.text("url")), redisURL: Secret(redisURL), keys: keys, service: "load",
            log: log, metrics: Metrics())
        try await lookups.start(within: .seconds(10))
        let redis = try RedisClient(url: redisURL, log: log, metrics: Metrics())
        try await redis.waitUntilConnected(within: .seconds(10))
        _ = try await redis.command("SET", "load", String(repeating: "x", count: 600))
        let handles = (0..<users).map { MadeUpUser($0).handle }
        let warm: @Sendable (Int) async throws -> Void = {
            _ = try await lookups.client.lookup(handles[$0 % users])
        }
        let cold: @Sendable (Int) async throws -> Void = {
            _ = try await lookups.client.lookup(fresh: handles[$0 % users])
        }
        let bare: @Sendable (Int) async throws -> Void = { _ in _ = try await redis.command("GET", "load") }
        let database = try await Database.open(try options.text("database"), log: log, metrics: Metrics())
        let hash = try await database.read {
            try $0.run("SELECT handle_hash FROM registry_handles LIMIT 1", [])[0].blob("handle_hash")
        }
        let select: @Sendable (Int) async throws -> Void = { _ in
            try await database.read {
                _ = try $0.run("SELECT * FROM registry_handles WHERE handle_hash = $1", [.blob(hash)])
            }
        }
        _ = try await rate(users, at: 8, warm)
        let figures = Figures(
            warm: try await rate(count, at: 1, warm), cold: try await rate(count, at: 1, cold),
            bareGet: try await rate(count, at: 1, bare), select: try await rate(count, at: 1, select),
            warmTogether: try await rate(count, at: 64, warm),
            coldTogether: try await rate(count, at: 64, cold), bareGetTogether: try await rate(count, at: 64, bare))
        await database.close()
        await redis.close()
        await lookups.close()
        return figures
    }

    private static func rate(
        _ count: Int, at once: Int, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        let start = monotonicSeconds()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<once {
                group.addTask { for number in stride(from: lane, to: count, by: once) { try await body(number) } }
            }
            try await group.waitForAll()
        }
        return Double(count) / (monotonicSeconds() - start)
    }
}
