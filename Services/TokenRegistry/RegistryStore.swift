import Database
import Foundation
import Runtime
import Shared

/// What a change takes away from other users.
enum Claim: Sendable {
    case nothing
    case handles([Handle])
    case token(String)
}

/// What a committed change left to be done; the outbox has it too, in case that we do not come to it.
struct Committed: Sendable {
    /// An entry of the cache that is not true any more.
    struct StaleEntry: Sendable {
        let outboxID: Int64
        let handle: String
        let generation: Int64
        /// What is true instead; `nil` if the handle is nobody's.
        let record: RegistryRecord?
    }

    var staleEntries: [StaleEntry] = []
    var hasEvents = false
}

/// The registry's truth.
///
/// Every change of a user is one transaction, with all that must follow from it.
struct RegistryStore: Sendable {
    private static let mostTries = 3

    let database: Database
    let vault: Vault
    let clock: WallClock
    /// Names this process in the outbox.
    let instance: String
    /// Whether there is a cache that has to hear of changes.
    let hasCache: Bool

    /// Changes a user, making them if need be, and takes what they claim from whoever had it.
    ///
    /// - Parameter change: Pure; may be called several times.
    func change<Answer: Sendable>(
        _ userID: String, claiming claim: Claim = .nothing,
        _ change: @escaping @Sendable (inout User, Timestamp) -> Answer
    ) async throws -> (answer: Answer, committed: Committed) {
        try await retryingCollisions { transaction in
            let rows = UserRows(transaction: transaction, vault: vault)
            let now = Timestamp(clock.now)
            var changes = try losers(by: claim, to: userID, rows, now)
            let before = try rows.load(userID)
            var after = before
            let answer = change(&after, now)
            if after != before {
                after.forgetOldCards(at: now)
                changes.append((before, after))
            }
            return (answer, try store(changes, rows, now))
        }
    }

    /// Removes a user and all that is theirs.
    ///
    /// `isKnown` is false if there is no such user.
    func erase(_ userID: String) async throws -> (isKnown: Bool, committed: Committed) {
        try await retryingCollisions { transaction in
            let rows = UserRows(transaction: transaction, vault: vault)
            let before = try rows.load(userID)
            guard before.generation > 0 else { return (false, Committed()) }
            let committed = try store([(before, User(id: userID))], rows, Timestamp(clock.now), isErasure: true)
            try rows.delete(userID)
            return (true, committed)
        }
    }

    /// The user, or `nil` if there is none.
    func user(_ userID: String) async throws -> User? {
        try await database.read { transaction in
            let user = try UserRows(transaction: transaction, vault: vault).load(userID)
            return user.generation > 0 ? user : nil
        }
    }

    /// Whom a handle belongs to and all that is known of them.
    func record(of handle: String) async throws -> RegistryRecord {
        guard let known = Handle(handle) else { return .unknown(handle) }
        return try await database.read { transaction in
            let rows = UserRows(transaction: transaction, vault: vault)
            guard let userID = try rows.owner(of: known) else { return .unknown(handle) }
            return try rows.load(userID).record
        }
    }

    private func losers(
        by claim: Claim, to userID: String, _ rows: UserRows, _ now: Timestamp
    ) throws -> [(before: User, after: User)] {
        let owners: Set<String>
        switch claim {
        case .nothing: return []
        case .handles(let handles): owners = Set(try handles.compactMap { try rows.owner(of: $0) })
        case .token(let token): owners = try rows.owners(ofToken: token)
        }
        return try owners.filter { !$0.isSame(as: userID) }.sorted().map { owner in
            let before = try rows.load(owner)
            var after = before
            switch claim {
            case .nothing: break
            case .handles(let handles): after.loseHandles(handles)
            case .token(let token): after.lose(token: token, at: now)
            }
            return (before, after)
        }
    }

    private func store(
        _ changes: [(before: User, after: User)], _ rows: UserRows, _ now: Timestamp, isErasure: Bool = false
    ) throws -> Committed {
        var changes = changes
        for index in changes.indices {
            changes[index].after.generation = try rows.nextGeneration()
            try rows.store(changes[index].after, over: changes[index].before, at: now)
        }
        let consequences = Consequences(changes, isErasure: isErasure)
        let outbox = OutboxRows(transaction: rows.transaction, vault: vault)
        var committed = Committed(hasEvents: !consequences.events.isEmpty)
        for event in consequences.events {
            try outbox.add(event, owner: instance, at: now, Trace.current?.context)
        }
        for handle in consequences.staleHandles where hasCache {
            let owner = changes.map(\.after).first { user in user.handles.contains { $0.handle == handle } }
            let generation = owner?.generation ?? changes.map(\.after.generation).max() ?? 0
            let id = try outbox.addStaleEntry(handle.text, generation: generation, owner: instance, at: now)
            committed.staleEntries.append(
                Committed.StaleEntry(outboxID: id, handle: handle.text, generation: generation, record: owner?.record))
        }
        return committed
    }

    /// Two users may register the same token or handle at the same moment: the second finds it taken when it writes.
    private func retryingCollisions<Answer: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Answer
    ) async throws -> Answer {
        var tries = 1
        while true {
            do {
                return try await database.transaction(body)
            } catch let error as DatabaseError where error.isUniqueViolation && tries < Self.mostTries {
                tries += 1
            }
        }
    }
}
