import Foundation
import Shared

@testable import Agent
@testable import TokenRegistry

/// The registry and the cache in front of it: the real rules of users, over a store that loses nothing committed.
struct ModelRegistry {
    private struct CacheEntry {
        var generation: Int64
        /// `nil` is a tombstone.
        var record: RegistryRecord?
        var expires: Timestamp
    }

    private struct StaleEntry {
        let handle: String
        let generation: Int64
    }

    private(set) var users: [String: TokenRegistry.User] = [:]
    private var generation: Int64 = 0
    private var serial = 0
    private var outbox: [CloudEvent<InboundEvent>] = []
    private var stale: [StaleEntry] = []
    private var cache: [String: CacheEntry] = [:]
    /// How often the process has ended after a commit and before it told the cache and answered.
    private(set) var kills = 0
    /// Cards that were given up because their app was installed anew.
    private(set) var forgotten = 0

    var isIdle: Bool { outbox.isEmpty && stale.isEmpty }

    mutating func freshID() -> String {
        serial += 1
        return "r\(serial)"
    }

    // MARK: Changes

    /// Changes a user in one transaction; what must follow is in the outbox afterwards.
    ///
    /// - Parameter follows: Whether the process lives long enough to tell the cache before it answers.
    mutating func change<Answer>(
        _ userID: String, claiming claim: Claim = .nothing, at now: Timestamp, follows: Bool,
        _ change: (inout TokenRegistry.User, Timestamp) -> Answer
    ) -> Answer {
        if !follows { kills += 1 }
        var changes = losers(by: claim, to: userID, now)
        let before = users[userID] ?? TokenRegistry.User(id: userID)
        var after = before
        let answer = change(&after, now)
        forgotten += before.cards.count { old in
            old.isDoubted && !after.cards.contains { $0.id == old.id }
        }
        if after != before {
            after.forgetOldCards(at: now)
            changes.append((before, after))
        }
        store(changes, at: now, follows: follows)
        return answer
    }

    private func losers(
        by claim: Claim, to userID: String, _ now: Timestamp
    ) -> [(before: TokenRegistry.User, after: TokenRegistry.User)] {
        users.values.filter { $0.id != userID }.sorted { $0.id < $1.id }.compactMap { before in
            var after = before
            switch claim {
            case .nothing: break
            case .handles(let handles): after.loseHandles(handles)
            case .token(let token): after.lose(token: token, at: now)
            }
            return after == before ? nil : (before, after)
        }
    }

    private mutating func store(
        _ changes: [(before: TokenRegistry.User, after: TokenRegistry.User)], at now: Timestamp, follows: Bool
    ) {
        var changes = changes
        for index in changes.indices {
            generation += 1
            changes[index].after.generation = generation
            users[changes[index].after.id] = changes[index].after
            users[changes[index].after.id]?.reachableAgain = []
        }
        let consequences = Consequences(changes)
        for event in consequences.events {
            outbox.append(
                CloudEvent(
                    id: freshID(), source: "token-registry", type: event.type, time: now, traceparent: nil, data: event)
            )
        }
        for handle in consequences.staleHandles {
            let entry = StaleEntry(handle: handle.text, generation: generation)
            if follows { tell(entry, at: now) } else { stale.append(entry) }
        }
    }

    // MARK: The outbox

    /// Does what must follow.
    ///
    /// - Parameter forgets: False if the process ends before it has noted that it is done: it is all done again then.
    mutating func workOutbox(at now: Timestamp, forgets: Bool) -> [CloudEvent<InboundEvent>] {
        for entry in stale { tell(entry, at: now) }
        let events = outbox
        if forgets {
            stale = []
            outbox = []
        }
        return events
    }

    private mutating func tell(_ entry: StaleEntry, at now: Timestamp) {
        let record = record(of: entry.handle)
        if record.userID == nil {
            guard cached(entry.handle, at: now).map({ $0.generation < entry.generation }) ?? true else { return }
            cache[entry.handle] = CacheEntry(
                generation: entry.generation, record: nil, expires: now + .seconds(60))
        } else {
            fill(record, for: entry.handle, at: now)
        }
    }

    // MARK: Look-ups

    func record(of handle: String) -> RegistryRecord {
        users.values.first { user in user.handles.contains { $0.handle.text == handle } }?.record ?? .unknown(handle)
    }

    func cachedRecord(of handle: String, at now: Timestamp) -> RegistryRecord? { cached(handle, at: now)?.record }

    private func cached(_ handle: String, at now: Timestamp) -> CacheEntry? {
        cache[handle].flatMap { now < $0.expires ? $0 : nil }
    }

    /// What a reader writes back: changes nothing if something newer is there.
    mutating func fill(_ record: RegistryRecord, for handle: String, at now: Timestamp) {
        guard cached(handle, at: now).map({ $0.generation <= record.generation }) ?? true else { return }
        cache[handle] = CacheEntry(
            generation: record.generation, record: record,
            expires: now + (record.userID == nil ? .seconds(5) : .seconds(300)))
    }

    /// Whether the cache says nothing about the handle, or what is true; after a crash the news may be late.
    func isCacheTrue(of handle: String, at now: Timestamp) -> Bool {
        cachedRecord(of: handle, at: now).map { $0 == record(of: handle) } ?? true
    }

    mutating func loseCache() { cache = [:] }
}
