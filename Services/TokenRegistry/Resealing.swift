import Database

/// Seals anew what an older key sealed, so that the older key can be taken away.
struct Resealing: Sendable {
    private static let batch = 200

    private static let tables: [(table: String, hash: String, kind: Vault.Kind)] = [
        ("registry_handles", "handle_hash", .handle),
        ("registry_former_handles", "handle_hash", .handle),
        ("registry_start_tokens", "token_hash", .token),
        ("registry_activities", "token_hash", .token),
    ]

    let store: RegistryStore

    /// Goes through all that is stored, a batch a transaction.
    ///
    /// Returns how many values it sealed anew; throws at the first that no key opens.
    func run() async throws -> Int {
        var count = 0
        for table in Self.tables {
            var resealed = 1
            while resealed > 0, !Task.isCancelled {
                resealed = try await resealBatch(table)
                count += resealed
            }
        }
        return count
    }

    private func resealBatch(_ table: (table: String, hash: String, kind: Vault.Kind)) async throws -> Int {
        try await store.database.transaction { [vault = store.vault] transaction in
            let rows = try transaction.run(
                """
                SELECT \(table.hash) AS hash, sealed FROM \(table.table)
                WHERE substr(sealed, 1, \(vault.sealedPrefix.count)) <> $1 LIMIT \(Self.batch)
                """, [.blob(vault.sealedPrefix)])
            for row in rows {
                let (hash, sealed) = (try row.blob("hash"), try row.blob("sealed"))
                let text = try vault.open(table.kind, sealed, hash: hash)
                try transaction.run(
                    "UPDATE \(table.table) SET sealed = $1 WHERE \(table.hash) = $2 AND sealed = $3",
                    [.blob(vault.seal(table.kind, text)), .blob(hash), .blob(sealed)])
            }
            return rows.count
        }
    }
}
