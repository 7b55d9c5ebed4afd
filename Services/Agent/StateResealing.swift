import Crypto
import Database
import Runtime

/// Seals anew what an older key sealed, so that the older key can be taken away: a user who has not written since has a
/// state that nothing else would write.
///
/// What waits to be published, or for the agent to be back, is not looked at: that is gone in hours.
struct StateResealing: Sendable {
    private static let batch = 200

    private struct Table {
        let name: String
        let key: String
        /// Less than every key.
        let start: DatabaseValue
    }

    private static let tables = [
        Table(name: "user_state", key: "user_key", start: .blob([])),
        Table(name: "replaced_state", key: "event_key", start: .text("")),
    ]

    let database: Database
    let keyring: Keyring

    /// Goes through all that is stored, once, and says what came of it.
    func run(_ log: Log, unless isStopping: @Sendable () -> Bool) async {
        do {
            let count = try await run(unless: isStopping)
            if count > 0 { log.info("sealed anew with the first data key", ["values": "\(count)"]) }
        } catch { log.error("not all could be sealed anew: keep the older data keys", ["error": "\(error)"]) }
    }

    /// Goes through all that is stored, a batch a transaction.
    ///
    /// Returns how many values it sealed anew; throws at the first that no key opens.
    func run(unless isStopping: @Sendable () -> Bool = { false }) async throws -> Int {
        var count = 0
        for table in Self.tables {
            var last: DatabaseValue? = table.start
            while let after = last, !isStopping() {
                let (resealed, next) = try await resealBatch(table, after: after)
                count += resealed
                last = next
            }
        }
        return count
    }

    private func resealBatch(_ table: Table, after last: DatabaseValue) async throws -> (Int, next: DatabaseValue?) {
        try await database.transaction { [keyring] transaction in
            let prefix = keyring.sealedPrefix
            let rows = try transaction.run(
                """
                SELECT \(table.key) AS row_key, user_key, sealed FROM \(table.name)
                WHERE \(table.key) > $1 AND substr(sealed, 1, \(prefix.count)) <> $2
                ORDER BY \(table.key) LIMIT \(Self.batch)
                """, [last, .blob(prefix)])
            for row in rows {
                let (sealed, context) = (try row.blob("sealed"), try row.blob("user_key"))
                let plain = try keyring.open(sealed, context: context)
                try transaction.run(
                    "UPDATE \(table.name) SET sealed = $1 WHERE \(table.key) = $2 AND sealed = $3",
                    [.blob(keyring.seal(plain, context: context)), row["row_key"] ?? .null, .blob(sealed)])
            }
            return (rows.count, rows.count == Self.batch ? rows.last?["row_key"] : nil)
        }
    }
}
