import AMQP
import Cache
import Database
import Foundation
import HTTPServer
import RegistryClient
import Runtime
import Shared
import TestSupport
import Testing

@testable import TokenRegistry

/// The cache, with a real Redis.
@Suite struct RegistryCacheTests {
    let log = Log(service: "test", level: .error) { _ in }

    func withRedis<R>(_ body: (RedisClient, PrivateRedis) async throws -> R) async throws -> R {
        try await PrivateRedis.with { server in
            let redis = try RedisClient(url: server.url, commandTimeout: .seconds(1), log: log, metrics: Metrics())
            try await redis.waitUntilConnected(within: .seconds(30))
            let result: Result<R, any Error>
            do { result = .success(try await body(redis, server)) } catch { result = .failure(error) }
            await redis.close()
            return try result.get()
        }
    }

    func record(_ generation: Int64, _ user: String? = "sam") -> RegistryRecord {
        RegistryRecord(generation: generation, userID: user, canonicalHandle: "+12025559876", devices: [])
    }

    @Test func `in whatever order fills and news of a change come, the newest stays`() async throws {
        enum Step: CaseIterable { case staleFill, invalidate, freshFill }
        try await withRedis { redis, _ in
            let cache = RegistryCache(redis: redis, keys: Bench.keys, metrics: Metrics())
            func run(_ step: Step, _ handle: String) async throws {
                switch step {
                case .staleFill: try await cache.fill(record(1), for: handle)
                case .invalidate: try await cache.invalidate(handle, generation: 2)
                case .freshFill: try await cache.fill(record(2), for: handle)
                }
            }
            var number = 0
            for first in Step.allCases {
                for second in Step.allCases where second != first {
                    for third in Step.allCases where third != first && third != second {
                        number += 1
                        let handle = "+1202555\(1000 + number)"
                        for step in [first, second, third] { try await run(step, handle) }
                        let found = try await cache.record(of: handle)
                        #expect(found == record(2), "\(first) \(second) \(third)")
                    }
                }
            }
            #expect(number == 6)
        }
    }

    @Test func `a slow reader cannot put back what was erased`() async throws {
        try await withRedis { redis, _ in
            let cache = RegistryCache(redis: redis, keys: Bench.keys, metrics: Metrics())
            try await cache.fill(record(7), for: "h")
            try await cache.invalidate("h", generation: 8)
            let refused = try await cache.fill(record(7), for: "h")
            #expect(!refused)
            let found = try await cache.record(of: "h")
            #expect(found == nil)
        }
    }

    @Test func `Redis sees neither handles nor tokens, and another key reads nothing`() async throws {
        try await withRedis { redis, _ in
            try await Bench.with(redis: redis) { bench in
                try await bench.registerSam()
                let names = try await redis.command("KEYS", "*")
                guard case .array(let keys) = names else { throw Unexpected() }
                #expect(!keys.isEmpty)
                for key in keys {
                    guard case .bytes(let name) = key else { throw Unexpected() }
                    let dump = try await redis.command([Array("HGETALL".utf8), name])
                    let text = "\(String(decoding: name, as: UTF8.self)) \(dump)"
                    guard case .array(let fields) = dump else { throw Unexpected() }
                    let bytes = fields.flatMap { if case .bytes(let bytes) = $0 { bytes } else { [UInt8]() } }
                    for needle in ["2025559876", token("aa")] {
                        #expect(!text.contains(needle))
                        #expect(Data(bytes).range(of: Data(needle.utf8)) == nil)
                    }
                }
                let stranger = RegistryCache(redis: redis, keys: .test(id: "k9"), metrics: Metrics())
                let found = try await stranger.record(of: "+12025559876")
                #expect(found == nil)
            }
        }
    }

    @Test func `no stale answer after a registration returned`() async throws {
        try await withRedis { redis, _ in
            try await Bench.with(redis: redis) { bench in
                let client = bench.client(redis)
                let handle = "+12025559876"
                #expect(try await client.lookup(handle) == .unknown(handle))
                _ = try await bench.call("PUT", "/v1/users/sam/handles", #"{"handles":["+12025559876"]}"#)
                for round in 0..<20 {
                    let digits = String(format: "%02x", round)
                    _ = try await bench.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken(digits))
                    let tokens = try await client.lookup(handle).devices.flatMap(\.startTokens).map(\.token)
                    #expect(tokens == [token(digits)])
                }
                _ = try await bench.call("PUT", "/v1/users/kim/handles", #"{"handles":["+12025559876"]}"#)
                #expect(try await client.lookup(handle).userID == "kim")
                _ = try await bench.call("DELETE", "/v1/users/kim")
                #expect(try await client.lookup(handle).userID == nil)
            }
        }
    }

    @Test func `a registry that dies between commit and Redis leaves the news to the outbox`() async throws {
        try await withRedis { redis, _ in
            try await Bench.with(redis: redis) { bench in
                try await bench.registerSam()
                let client = bench.client(redis)
                _ = try await client.lookup("+12025559876")
                _ = try await bench.store.change("sam") { user, _ in user.learn(.sandbox, of: token("aa")) }
                let stale = try await client.lookup("+12025559876").devices.flatMap(\.startTokens).map(\.environment)
                #expect(stale == [nil])
                bench.clock.advance(by: .seconds(2))
                _ = try await bench.events()
                let fresh = try await client.lookup("+12025559876").devices.flatMap(\.startTokens).map(\.environment)
                #expect(fresh == [.sandbox])
            }
        }
    }

    @Test func `Redis down means slower, not wrong, and it recovers by itself`() async throws {
        try await withRedis { redis, server in
            try await Bench.with(redis: redis) { bench in
                try await bench.registerSam()
                let client = bench.client(redis)
                try await server.stop()
                let answer = try await bench.call("PUT", "/v1/users/sam/devices/phone/start-token", startToken("cc"))
                #expect(answer.status == 204)
                let tokens = try await client.lookup("+12025559876").devices.flatMap(\.startTokens).map(\.token)
                #expect(tokens == [token("cc")])
                try await server.start()
                try await redis.waitUntilConnected(within: .seconds(30))
                bench.clock.advance(by: .seconds(2))
                _ = try await bench.events()
                let cache = RegistryCache(redis: redis, keys: Bench.keys, metrics: Metrics())
                let cached = try await cache.record(of: "+12025559876")
                #expect(cached?.devices.flatMap(\.startTokens).map(\.token) == [token("cc")])
                let left = try await bench.database.read { try $0.run("SELECT id FROM registry_outbox") }
                #expect(left.isEmpty)
            }
        }
    }

    private struct Unexpected: Error {}
}

extension Bench {
    /// A client that asks this registry's own code, past the broker.
    func client(
        _ redis: RedisClient?, before: @escaping @Sendable () async -> Void = {}
    ) -> RegistryClient {
        RegistryClient(
            cache: redis.map { RegistryCache(redis: $0, keys: Bench.keys, metrics: Metrics()) }, log: log,
            metrics: Metrics(), clock: clock.wallClock
        ) { message throws(PublishError) in
            await before()
            guard let answer = await answer(message) else { throw .timedOut }
            return answer
        }
    }
}
