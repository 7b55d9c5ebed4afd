/// One change of the schema.
///
/// Once released it is never changed; the next change is another migration.
package struct Migration: Sendable {
    /// From 1 upwards, without a gap within its scope.
    package let number: Int
    package let name: String
    /// The statements for each database, separated by semicolons.
    package let sqlite: String
    package let postgres: String

    package init(number: Int, name: String, sqlite: String, postgres: String) {
        self.number = number
        self.name = name
        self.sqlite = sqlite
        self.postgres = postgres
    }

    /// A migration whose statements both databases take.
    package init(number: Int, name: String, _ sql: String) {
        self.init(number: number, name: name, sqlite: sql, postgres: sql)
    }
}

extension Database {
    /// Any number that nobody else takes advisory locks with in this database.
    private static let migrationLock: Int64 = 0x4953_5448_4D55_53

    /// Brings the tables of `scope` up to date, each migration in a transaction of its own.
    ///
    /// Several processes may do this at the same time: each migration is applied once. Throws when the database was
    /// migrated further than `migrations` know, which means that this program is too old for it. Where everything is
    /// applied already, it needs no right to change the schema.
    ///
    /// - Parameter scope: Whose tables they are, such as `agent`: services may share a database.
    package func migrate(_ migrations: [Migration], scope: String) async throws {
        guard migrations.map(\.number) == Array(1..<(migrations.count + 1)) else {
            throw DatabaseError(
                .migrate, code: "numbers", "the migrations of \(scope) are not numbered from 1 in order")
        }
        let dialect = dialect
        while true {
            let isDone = try await migrationStep { transaction in
                let applied = try Self.applied(scope, transaction)
                if let unknown = applied.max(), unknown > migrations.count {
                    throw DatabaseError(
                        .migrate, code: "newer",
                        "the database has migration \(unknown) of \(scope), this program knows \(migrations.count)")
                }
                guard let next = migrations.first(where: { !applied.contains($0.number) }) else { return true }
                try transaction.runScript(dialect == .sqlite ? next.sqlite : next.postgres)
                try transaction.run(
                    "INSERT INTO schema_migrations (scope, number, name) VALUES ($1, $2, $3)",
                    [.text(scope), .integer(next.number), .text(next.name)])
                return false
            }
            if isDone { return }
        }
    }

    /// The numbers applied so far, which nobody else changes until the transaction ends.
    private static func applied(_ scope: String, _ transaction: Transaction) throws -> Set<Int> {
        let exists: String
        switch transaction.dialect {
        case .sqlite:  // Its transaction has the file's write lock.
            exists = "SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'"
        case .postgres:
            try transaction.run("SELECT pg_advisory_xact_lock($1)", [.integer(migrationLock)])
            exists = "SELECT 1 WHERE to_regclass('schema_migrations') IS NOT NULL"
        }
        if try transaction.run(exists).isEmpty {
            try transaction.runScript("CREATE TABLE \(Migration.table)")
        }
        let rows = try transaction.run("SELECT number FROM schema_migrations WHERE scope = $1", [.text(scope)])
        return Set(try rows.map { Int(try $0.integer("number")) })
    }
}
