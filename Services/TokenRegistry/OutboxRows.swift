import Database
import Foundation
import Runtime
import Shared

/// What must still be done for committed changes, in the order in which it was decided.
struct OutboxRows {
    enum Kind: String {
        /// `sealed` is a CloudEvent for the inbound stage.
        case event
        /// `sealed` is a handle whose cached answer is older than `generation`.
        case staleEntry = "stale-entry"
        /// Cannot be opened or read any more; kept for a person.
        case unreadable
    }

    struct Entry: Sendable {
        let id: Int64
        let kind: String
        let generation: Int64
        let createdAt: Timestamp
        let sealed: [UInt8]
    }

    /// Milliseconds for which a change's own request sees to the cache.
    private static let requestTime: Int64 = 1000
    /// Milliseconds after which another process' entry counts as left.
    private static let leftAfter: Int64 = 5000

    let transaction: Transaction
    let vault: Vault

    /// - Parameter trace: Of the call that caused the event.
    func add(_ event: InboundEvent, owner: String, at now: Timestamp, _ trace: TraceContext?) throws {
        let envelope = CloudEvent(
            id: UUID().uuidString, source: "token-registry", type: event.type, time: now,
            traceparent: trace?.traceparent, tracestate: trace?.state, data: event)
        _ = try insert(.event, generation: 0, try envelope.encoded(), owner, now)
    }

    func addStaleEntry(_ handle: String, generation: Int64, owner: String, at now: Timestamp) throws -> Int64 {
        try insert(.staleEntry, generation: generation, Array(handle.utf8), owner, now)
    }

    /// The oldest entries to be worked by `owner`: its own, and others' that were left for long.
    ///
    /// An entry from the future was written before a clock was put back: nobody else waits with it any more.
    func pending(_ owner: String, at now: Timestamp, limit: Int) throws -> [Entry] {
        let now = now.millisecondsSince1970
        let rows = try transaction.run(
            """
            SELECT id, kind, generation, created_at, sealed FROM registry_outbox
            WHERE kind <> 'unreadable'
                AND ((owner = $1 AND (kind = 'event' OR created_at NOT BETWEEN $2 AND $3))
                    OR created_at NOT BETWEEN $4 AND $5)
            ORDER BY id LIMIT $6
            """,
            [
                .text(owner), .integer(now - Self.requestTime), .integer(now), .integer(now - Self.leftAfter),
                .integer(now + Self.leftAfter), .integer(limit),
            ])
        return try rows.map { row in
            Entry(
                id: try row.integer("id"), kind: try row.text("kind"), generation: try row.integer("generation"),
                createdAt: Timestamp(millisecondsSince1970: try row.integer("created_at")),
                sealed: try row.blob("sealed"))
        }
    }

    func remove(_ ids: [Int64]) throws {
        for id in ids { try transaction.run("DELETE FROM registry_outbox WHERE id = $1", [.integer(id)]) }
    }

    func markUnreadable(_ id: Int64) throws {
        try transaction.run("UPDATE registry_outbox SET kind = 'unreadable' WHERE id = $1", [.integer(id)])
    }

    private func insert(
        _ kind: Kind, generation: Int64, _ plain: [UInt8], _ owner: String, _ now: Timestamp
    ) throws -> Int64 {
        let rows = try transaction.run(
            """
            INSERT INTO registry_outbox (owner, kind, generation, created_at, sealed)
            VALUES ($1, $2, $3, $4, $5) RETURNING id
            """,
            [
                .text(owner), .text(kind.rawValue), .integer(generation), .integer(now.millisecondsSince1970),
                .blob(vault.sealOutbox(plain)),
            ])
        guard let row = rows.first else { throw DatabaseError(.run, code: "id", "the outbox gave no id") }
        return try row.integer("id")
    }
}
