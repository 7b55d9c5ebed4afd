import Crypto
import Database
import Foundation
import Runtime
import Shared

/// What the agent has to remember: which events it has seen, each user's state, and what must still go out.
///
/// State and outgoing messages are sealed; a user is found by the keyed hash of the canonical handle.
final class AgentStore: Sendable {
    /// What is known before an event is handled.
    struct Loaded: Sendable {
        /// The event was handled before; `outgoing` is what it caused and may not have been published.
        let isSeen: Bool
        let outgoing: [Outgoing]
        /// Earlier events of the user wait for the agent.
        let isDeferred: Bool
        let state: UserState?
        /// 0: there is no state yet.
        let version: Int64
    }

    /// The outcome of an event, to be stored as a whole.
    struct Commit: Sendable {
        /// The event's keys: a copy is recognised by any of them.
        ///
        /// The first one carries the outbox.
        let eventKeys: [String]
        /// The version that the state was loaded with.
        let version: Int64
        /// Whose state it is.
        let handle: String
        /// `nil`: nothing is kept of the user any more.
        let state: UserState?
        /// A state that had to make way, for the record.
        var replaced: UserState?
        /// The replaced states that go as well.
        var erasure: Erasure?
        let partition: Int
        let dueAt: Timestamp?
        let outgoing: [Outgoing]
        let at: Timestamp
    }

    /// Whose states are to be forgotten, among those that made way under a handle.
    struct Erasure: Sendable {
        let change: IdentityChanged
        let owner: RegistryRecord
    }

    enum CommitResult: Sendable, Equatable {
        case committed
        /// Somebody else has handled the event or changed the state: load again.
        case conflict
    }

    /// A session whose time has come.
    struct Due: Sendable {
        let handle: String
        let sessionID: String
        let dueAt: Timestamp
    }

    private struct LoadRequest: Sendable {
        let userKey: [UInt8]
        let eventKeys: [String]
    }

    /// What one transaction does for many events: to say that something is published takes none of its own.
    private enum Write: Sendable {
        case commit(Commit)
        case forgetOutgoing(eventKey: String)
    }

    private let database: Database
    private let hashKey: HMACKey
    private let keyring: Keyring
    private let loads: Batcher<LoadRequest, Loaded>
    private let writes: Batcher<Write, CommitResult>
    let attempts: AttemptStore
    let deferred: DeferredStore
    let resealing: StateResealing

    /// - Parameters:
    ///   - hashKey: Turns handles into what they are looked up by.
    ///   - keyring: Seals states and outgoing messages.
    init(_ database: Database, hashKey: HMACKey, keyring: Keyring) {
        self.database = database
        self.hashKey = hashKey
        self.keyring = keyring
        attempts = AttemptStore(database)
        deferred = DeferredStore(database, hashKey: hashKey, keyring: keyring)
        resealing = StateResealing(database: database, keyring: keyring)
        loads = Batcher { requests in
            try await database.read { transaction in
                try requests.map { try Self.load($0, transaction, keyring) }
            }
        }
        writes = Batcher { requests in
            try await database.transaction { transaction in
                try requests.map { request in
                    switch request {
                    case .commit(let commit): return try Self.commit(commit, transaction, hashKey, keyring)
                    case .forgetOutgoing(let key):
                        _ = try transaction.run("DELETE FROM outbox WHERE event_key = $1", [.text(key)])
                        return .committed
                    }
                }
            }
        }
    }

    func migrate() async throws { try await database.migrate(AgentMigrations.all, scope: AgentMigrations.scope) }

    func load(handle: String, eventKeys: [String]) async throws -> Loaded {
        try await loads.submit(LoadRequest(userKey: hashKey.authenticate(Array(handle.utf8)), eventKeys: eventKeys))
    }

    func commit(_ commit: Commit) async throws -> CommitResult { try await writes.submit(.commit(commit)) }

    /// Forgets what an event caused, once all of it is published.
    func forgetOutgoing(of eventKey: String) async throws {
        _ = try await writes.submit(.forgetOutgoing(eventKey: eventKey))
    }

    /// Sessions of the given partitions whose time has come, the longest overdue first.
    ///
    /// Without those of users whose earlier events wait for the agent: this one would only wait behind them.
    func due(at now: Timestamp, partitions: [Int], limit: Int = 500) async throws -> [Due] {
        guard !partitions.isEmpty else { return [] }
        let keyring = keyring
        let ours = partitions.sorted().map(String.init).joined(separator: ", ")
        return try await database.read { transaction in
            let rows = try transaction.run(
                """
                SELECT user_key, due_at, sealed FROM user_state s
                WHERE due_at IS NOT NULL AND due_at <= $1 AND partition IN (\(ours))
                    AND NOT EXISTS (SELECT 1 FROM deferred_lane l WHERE l.user_key = s.user_key)
                ORDER BY due_at LIMIT $2
                """, [.integer(now.millisecondsSince1970), .integer(limit)])
            return try rows.compactMap { row in
                let state: UserState = try Self.opened(try row.blob("sealed"), try row.blob("user_key"), keyring)
                guard let session = state.session, session.isOpen else { return nil }
                let dueAt = Timestamp(millisecondsSince1970: try row.integer("due_at"))
                return Due(handle: state.handle, sessionID: session.id, dueAt: dueAt)
            }
        }
    }

    /// Forgets events that were seen before `limit`; a copy of one of those would count again.
    func prune(before limit: Timestamp) async throws -> Int {
        try await database.transaction { transaction in
            let limit = DatabaseValue.integer(limit.millisecondsSince1970)
            _ = try transaction.run("DELETE FROM attempts WHERE last_at < $1", [limit])
            _ = try transaction.run("DELETE FROM inbox WHERE seen_at < $1", [limit])
            return transaction.changes
        }
    }

    func probe() async throws { try await database.probe() }

    func close() async { await database.close() }

    private static func load(
        _ request: LoadRequest, _ transaction: Transaction, _ keyring: Keyring
    ) throws -> Loaded {
        // One question for all, since each is a way to the database.
        let marks = try transaction.run(
            """
            SELECT (SELECT COUNT(*) FROM inbox WHERE event_key IN ($1, $2)) AS seen,
                   (SELECT COUNT(*) FROM deferred_lane WHERE user_key = $3) AS lanes
            """, keyValues(request.eventKeys) + [.blob(request.userKey)])[0]
        let isSeen = try marks.integer("seen") > 0
        let isDeferred = try marks.integer("lanes") > 0
        let outgoing: [Outgoing] =
            !isSeen
            ? []
            : try request.eventKeys.flatMap { key in
                try transaction.run("SELECT sealed FROM outbox WHERE event_key = $1 ORDER BY position", [.text(key)])
                    .map { try opened(try $0.blob("sealed"), Array(key.utf8), keyring) }
            }
        let row = try transaction.run(
            "SELECT version, sealed FROM user_state WHERE user_key = $1", [.blob(request.userKey)]
        ).first
        let state: UserState? = try row.map { try opened(try $0.blob("sealed"), request.userKey, keyring) }
        return Loaded(
            isSeen: isSeen, outgoing: outgoing, isDeferred: isDeferred, state: state,
            version: try row?.integer("version") ?? 0)
    }

    private static func commit(
        _ commit: Commit, _ transaction: Transaction, _ hashKey: HMACKey, _ keyring: Keyring
    ) throws -> CommitResult {
        let userKey = hashKey.authenticate(Array(commit.handle.utf8))
        let marked = try transaction.run(
            """
            INSERT INTO inbox (event_key, seen_at) VALUES ($1, $3), ($2, $3) ON CONFLICT DO NOTHING
            RETURNING event_key
            """, keyValues(commit.eventKeys) + [.integer(commit.at.millisecondsSince1970)]
        ).map { try $0.text("event_key") }
        guard marked.count == commit.eventKeys.count, try write(commit, userKey, transaction, keyring) else {
            return try takeBack(marked, transaction)
        }
        let key = commit.eventKeys[0]
        if let erasure = commit.erasure { try forgetReplaced(erasure, userKey, transaction, keyring) }
        if let replaced = commit.replaced {
            _ = try transaction.run(
                "INSERT INTO replaced_state (event_key, user_key, replaced_at, sealed) VALUES ($1, $2, $3, $4)",
                [
                    .text(key), .blob(userKey), .integer(commit.at.millisecondsSince1970),
                    .blob(try sealed(replaced, userKey, keyring)),
                ])
        }
        for (position, outgoing) in commit.outgoing.enumerated() {
            _ = try transaction.run(
                "INSERT INTO outbox (event_key, position, sealed) VALUES ($1, $2, $3)",
                [.text(key), .integer(position), .blob(try sealed(outgoing, Array(key.utf8), keyring))])
        }
        return .committed
    }

    private static func forgetReplaced(
        _ erasure: Erasure, _ userKey: [UInt8], _ transaction: Transaction, _ keyring: Keyring
    ) throws {
        let rows = try transaction.run(
            "SELECT event_key, sealed FROM replaced_state WHERE user_key = $1", [.blob(userKey)])
        for row in rows {
            let replaced: UserState = try opened(try row.blob("sealed"), userKey, keyring)
            guard erasure.change.erases(replaced.userID, of: erasure.owner) else { continue }
            _ = try transaction.run(
                "DELETE FROM replaced_state WHERE event_key = $1", [.text(try row.text("event_key"))])
        }
    }

    /// Undoes one event's marks: the transaction goes on for the other events of its batch.
    private static func takeBack(_ keys: [String], _ transaction: Transaction) throws -> CommitResult {
        for key in keys { _ = try transaction.run("DELETE FROM inbox WHERE event_key = $1", [.text(key)]) }
        return .conflict
    }

    /// An event's keys as two values; one that has but one key gives it twice.
    private static func keyValues(_ keys: [String]) -> [DatabaseValue] {
        precondition(keys.count <= 2, "an event has two keys at the most")
        return [.optional(keys.first), .optional(keys.last)]
    }

    /// Writes the state if it still has the version that it was loaded with.
    private static func write(
        _ commit: Commit, _ userKey: [UInt8], _ transaction: Transaction, _ keyring: Keyring
    ) throws -> Bool {
        guard let state = commit.state else {
            _ = try transaction.run(
                "DELETE FROM user_state WHERE user_key = $1 AND version = $2",
                [.blob(userKey), .integer(commit.version)])
            return commit.version == 0 || transaction.changes == 1
        }
        let values: [DatabaseValue] = [
            .blob(userKey), .integer(commit.version + 1), .integer(commit.partition),
            .optional(commit.dueAt?.millisecondsSince1970), .blob(try sealed(state, userKey, keyring)),
        ]
        if commit.version == 0 {
            _ = try transaction.run(
                """
                INSERT INTO user_state (user_key, version, partition, due_at, sealed) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT DO NOTHING
                """, values)
        } else {
            _ = try transaction.run(
                """
                UPDATE user_state SET version = $2, partition = $3, due_at = $4, sealed = $5
                WHERE user_key = $1 AND version = $2 - 1
                """, values)
        }
        return transaction.changes == 1
    }

    private static func sealed(_ value: some JSONWritable, _ context: [UInt8], _ keyring: Keyring) throws -> [UInt8] {
        keyring.seal(try JSON.encode(value, sortsKeys: false), context: context)
    }

    private static func opened<Value: JSONReadable>(
        _ bytes: [UInt8], _ context: [UInt8], _ keyring: Keyring
    ) throws -> Value {
        try JSON.decode(Value.self, from: try keyring.open(bytes, context: context))
    }
}
