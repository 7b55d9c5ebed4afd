import Crypto
import Database
import Foundation
import Runtime
import Shared

/// The lanes of users whose agent is away, with the events that wait in them, in order.
///
/// An event is in here or in its queue: it is acknowledged once it is stored, and taken out once its effects are.
final class DeferredStore: Sendable {
    /// An event on its way into the lane of its user.
    struct Entry: Sendable {
        let handle: String
        /// What a copy of the event is recognised by.
        let eventKey: String
        let partition: Int
        let at: Timestamp
        /// The event as it came.
        let body: [UInt8]
    }

    /// The first event of a lane.
    struct Head: Sendable {
        let eventKey: String
        let deferredAt: Timestamp
        let body: [UInt8]
        /// Not to be tried before.
        let dueAt: Timestamp
        /// How often it was tried in vain since it was deferred.
        let tries: Int
    }

    /// A lane whose time has come.
    struct Due: Sendable, Equatable {
        let laneID: String
        let handle: String
        let dueAt: Timestamp
    }

    /// How long a lane is left alone at the most.
    static let longestRest = Duration.seconds(300)

    private let database: Database
    private let hashKey: HMACKey
    private let keyring: Keyring
    private let openings: Batcher<(Entry, dueAt: Timestamp), Void>
    private let additions: Batcher<Entry, Bool>

    init(_ database: Database, hashKey: HMACKey, keyring: Keyring) {
        self.database = database
        self.hashKey = hashKey
        self.keyring = keyring
        openings = Batcher { requests in
            try await database.transaction { transaction in
                for (entry, dueAt) in requests {
                    _ = try transaction.run(
                        """
                        INSERT INTO deferred_lane (user_key, partition, due_at, tries, next_position)
                        VALUES ($1, $2, $3, 0, 0) ON CONFLICT DO NOTHING
                        """,
                        [
                            .blob(Self.key(entry.handle, hashKey)), .integer(entry.partition),
                            .integer(dueAt.millisecondsSince1970),
                        ])
                    _ = try Self.append(entry, transaction, hashKey, keyring)
                }
                return requests.map { _ in }
            }
        }
        additions = Batcher { entries in
            try await database.transaction { transaction in
                try entries.map { try Self.append($0, transaction, hashKey, keyring) }
            }
        }
    }

    private static func key(_ handle: String, _ hashKey: HMACKey) -> [UInt8] {
        hashKey.authenticate(Array(handle.utf8))
    }

    /// Whether a lane's time has come; one that is further off than any rest was set before the clock was put back.
    static func isDue(_ dueAt: Timestamp, at now: Timestamp) -> Bool { dueAt <= now || dueAt > now + longestRest }

    /// Begins a lane with its first event, which is tried again at `dueAt`.
    func begin(_ entry: Entry, dueAt: Timestamp) async throws { try await openings.submit((entry, dueAt)) }

    /// Puts an event behind those that wait; false if none does any more, and it is to be worked.
    func append(_ entry: Entry) async throws -> Bool { try await additions.submit(entry) }

    /// The first event that waits in the lane of `handle`.
    func head(of handle: String) async throws -> Head? {
        let userKey = Self.key(handle, hashKey)
        let keyring = keyring
        return try await database.read { transaction in
            let row = try transaction.run(
                """
                SELECT e.event_key, e.deferred_at, e.sealed, l.due_at, l.tries
                FROM deferred_lane l JOIN deferred_event e ON e.user_key = l.user_key
                WHERE l.user_key = $1 ORDER BY e.position LIMIT 1
                """, [.blob(userKey)]
            ).first
            return try row.map { row in
                Head(
                    eventKey: try row.text("event_key"),
                    deferredAt: Timestamp(millisecondsSince1970: try row.integer("deferred_at")),
                    body: try keyring.open(try row.blob("sealed"), context: userKey),
                    dueAt: Timestamp(millisecondsSince1970: try row.integer("due_at")),
                    tries: Int(try row.integer("tries")))
            }
        }
    }

    /// Leaves the lane alone until `dueAt`; its first event was tried in vain.
    func postpone(_ handle: String, until dueAt: Timestamp) async throws {
        let userKey = Self.key(handle, hashKey)
        try await database.transaction { transaction in
            _ = try transaction.run(
                "UPDATE deferred_lane SET due_at = $2, tries = tries + 1 WHERE user_key = $1",
                [.blob(userKey), .integer(dueAt.millisecondsSince1970)])
        }
    }

    /// Takes an event out that was dealt with; the lane goes with its last one, and is due at once otherwise.
    func remove(_ eventKey: String, of handle: String, at now: Timestamp) async throws {
        let userKey = Self.key(handle, hashKey)
        try await database.transaction { transaction in
            // First, since it makes whoever appends wait for the end of this.
            _ = try transaction.run(
                "UPDATE deferred_lane SET due_at = $2, tries = 0 WHERE user_key = $1",
                [.blob(userKey), .integer(now.millisecondsSince1970)])
            _ = try transaction.run(
                "DELETE FROM deferred_event WHERE user_key = $1 AND event_key = $2", [.blob(userKey), .text(eventKey)])
            let isEmpty = try transaction.run(
                "SELECT 1 AS found FROM deferred_event WHERE user_key = $1 LIMIT 1", [.blob(userKey)]
            ).isEmpty
            if isEmpty { _ = try transaction.run("DELETE FROM deferred_lane WHERE user_key = $1", [.blob(userKey)]) }
        }
    }

    /// Lanes of the given partitions whose time has come, the longest overdue first.
    func due(at now: Timestamp, partitions: [Int], limit: Int = 500) async throws -> [Due] {
        guard !partitions.isEmpty else { return [] }
        let keyring = keyring
        let ours = partitions.sorted().map(String.init).joined(separator: ", ")
        return try await database.read { transaction in
            let lanes = try transaction.run(
                """
                SELECT user_key, due_at FROM deferred_lane
                WHERE (due_at <= $1 OR due_at > $2) AND partition IN (\(ours)) ORDER BY due_at LIMIT $3
                """,
                [
                    .integer(now.millisecondsSince1970), .integer((now + Self.longestRest).millisecondsSince1970),
                    .integer(limit),
                ])
            return try lanes.compactMap { lane in
                let userKey = try lane.blob("user_key")
                let first = try transaction.run(
                    "SELECT sealed FROM deferred_event WHERE user_key = $1 ORDER BY position LIMIT 1",
                    [.blob(userKey)]
                ).first
                guard let first else { return nil }
                let event = try CloudEvent<InboundEvent>(
                    decoding: try keyring.open(try first.blob("sealed"), context: userKey))
                return Due(
                    laneID: userKey.prefix(8).hexString, handle: event.data.handle,
                    dueAt: Timestamp(millisecondsSince1970: try lane.integer("due_at")))
            }
        }
    }

    /// How many lanes there are.
    func count() async throws -> Int {
        try await database.read { transaction in
            Int(try transaction.run("SELECT COUNT(*) AS n FROM deferred_lane")[0].integer("n"))
        }
    }

    private static func append(
        _ entry: Entry, _ transaction: Transaction, _ hashKey: HMACKey, _ keyring: Keyring
    ) throws -> Bool {
        let userKey = key(entry.handle, hashKey)
        _ = try transaction.run(
            "UPDATE deferred_lane SET next_position = next_position + 1 WHERE user_key = $1", [.blob(userKey)])
        guard transaction.changes == 1 else { return false }
        let position = try transaction.run(
            "SELECT next_position FROM deferred_lane WHERE user_key = $1", [.blob(userKey)])[0]
        // A copy of an event that waits already changes nothing.
        _ = try transaction.run(
            """
            INSERT INTO deferred_event (user_key, position, event_key, deferred_at, sealed)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
            """,
            [
                .blob(userKey), .integer(try position.integer("next_position")), .text(entry.eventKey),
                .integer(entry.at.millisecondsSince1970), .blob(keyring.seal(entry.body, context: userKey)),
            ])
        return true
    }
}
