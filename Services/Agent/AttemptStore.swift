import Database
import Shared

/// How often events were begun that have not come to an end since.
final class AttemptStore: Sendable {
    private struct Attempt: Sendable {
        let eventKey: String
        let at: Timestamp
    }

    private let counts: Batcher<String, Int>
    private let notes: Batcher<Attempt, Int>
    private let removals: Batcher<String, Void>

    init(_ database: Database) {
        counts = Batcher { keys in
            try await database.read { transaction in try keys.map { try Self.count($0, transaction) } }
        }
        notes = Batcher { attempts in
            try await database.transaction { transaction in
                try attempts.map { attempt in
                    _ = try transaction.run(
                        """
                        INSERT INTO attempts (event_key, count, last_at) VALUES ($1, 1, $2)
                        ON CONFLICT (event_key) DO UPDATE SET count = attempts.count + 1, last_at = excluded.last_at
                        """, [.text(attempt.eventKey), .integer(attempt.at.millisecondsSince1970)])
                    return try Self.count(attempt.eventKey, transaction)
                }
            }
        }
        removals = Batcher { keys in
            try await database.transaction { transaction in
                for key in keys { _ = try transaction.run("DELETE FROM attempts WHERE event_key = $1", [.text(key)]) }
                return keys.map { _ in }
            }
        }
    }

    func count(of eventKey: String) async throws -> Int { try await counts.submit(eventKey) }

    /// Counts one more, durably, and returns which it is.
    func begin(_ eventKey: String, at now: Timestamp) async throws -> Int {
        try await notes.submit(Attempt(eventKey: eventKey, at: now))
    }

    /// Forgets the attempts of an event that has come to an end, whichever.
    func end(_ eventKey: String) async throws { try await removals.submit(eventKey) }

    private static func count(_ key: String, _ transaction: Transaction) throws -> Int {
        let row = try transaction.run("SELECT count FROM attempts WHERE event_key = $1", [.text(key)]).first
        return Int(try row?.integer("count") ?? 0)
    }
}
