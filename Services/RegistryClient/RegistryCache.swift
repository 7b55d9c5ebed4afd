package import Cache
import Crypto
import Foundation
package import Runtime
package import Shared

/// The registry's answers as Redis keeps them, for a while, sealed.
///
/// Every entry carries the generation of what it says. A write with an older one than is there changes nothing, so a
/// slow reader cannot put back what a registration has replaced meanwhile. A tombstone guards an emptied entry.
package struct RegistryCache: Sendable {
    package static let knownTTL: Duration = .seconds(300)
    /// Short: somebody may register any moment, and writing to us may be how they heard of it.
    package static let unknownTTL: Duration = .seconds(5)
    /// Longer than any look-up can take that began before the change.
    package static let tombstoneTTL: Duration = .seconds(60)

    private static let fillScript = """
        local c=redis.call('HGET',KEYS[1],'v')
        if c and tonumber(c)>tonumber(ARGV[1]) then return 0 end
        redis.call('HSET',KEYS[1],'v',ARGV[1],'d',ARGV[3])
        redis.call('PEXPIRE',KEYS[1],ARGV[2])
        return 1
        """

    private static let invalidateScript = """
        local c=redis.call('HGET',KEYS[1],'v')
        if c and tonumber(c)>=tonumber(ARGV[1]) then return 0 end
        redis.call('HSET',KEYS[1],'v',ARGV[1])
        redis.call('HDEL',KEYS[1],'d')
        redis.call('PEXPIRE',KEYS[1],ARGV[2])
        return 1
        """

    private let redis: RedisClient
    private let keys: CacheKeys
    private let unreadable: Counter

    package init(redis: RedisClient, keys: CacheKeys, metrics: Metrics) {
        self.redis = redis
        self.keys = keys
        unreadable = metrics.counter(
            "isthmus_registry_cache_unreadable_total", "Cached answers that could not be opened or read.")
    }

    /// What the cache says; `nil` if it says nothing.
    package func record(of handle: String) async throws(CacheError) -> RegistryRecord? {
        let key = entryKey(handle)
        switch try await redis.command([Array("HGET".utf8), key, Array("d".utf8)]) {
        case .bytes(let sealed):
            do {
                let plain = try keys.sealing.open(sealed, context: key)
                return try JSON.decode(RegistryRecord.self, from: plain)
            } catch {
                // Sealed with a key that was taken away, or by another version: as good as not there.
                unreadable.increment()
                return nil
            }
        default: return nil
        }
    }

    /// Stores what is known of `handle`.
    ///
    /// Returns whether nothing newer was there.
    @discardableResult
    package func fill(_ record: RegistryRecord, for handle: String) async throws(CacheError) -> Bool {
        let key = entryKey(handle)
        let ttl = record.userID == nil ? Self.unknownTTL : Self.knownTTL * Double.random(in: 0.9...1.1)
        let encoded: [UInt8]
        do {
            encoded = try JSON.encode(record, sortsKeys: false)
        } catch {
            preconditionFailure("a record of strings and numbers can be encoded: \(error)")
        }
        return try await run(
            Self.fillScript, key,
            [text(record.generation), text(ttl.milliseconds), keys.sealing.seal(encoded, context: key)])
    }

    /// Empties the entry of `handle`: what is older than `generation` cannot be filled in for a while.
    @discardableResult
    package func invalidate(_ handle: String, generation: Int64) async throws(CacheError) -> Bool {
        try await run(
            Self.invalidateScript, entryKey(handle), [text(generation), text(Self.tombstoneTTL.milliseconds)])
    }

    private func run(_ script: String, _ key: [UInt8], _ arguments: [[UInt8]]) async throws(CacheError) -> Bool {
        let head = [Array("EVAL".utf8), Array(script.utf8), Array("1".utf8), key]
        return try await redis.command(head + arguments) == .integer(1)
    }

    private func entryKey(_ handle: String) -> [UInt8] {
        Array("registry:v1:".utf8)
            + Array(keys.hash.authenticate(Array("cache\0".utf8), Array(handle.utf8)).hexString.utf8)
    }

    private func text(_ number: Int64) -> [UInt8] { Array(String(number).utf8) }
}
