extension Migration {
    /// The statements that take an empty PostgreSQL database to the last of `migrations`, for `psql`.
    ///
    /// For who reviews the tables before they are made, or gives the service no right to make them: it then finds that all
    /// is applied.
    package static func script(_ migrations: [Migration], scope: String) -> String {
        let head = """
            -- What the service makes in an empty PostgreSQL database when it starts. Applied by hand, as the owner of the tables,
            --     psql -v ON_ERROR_STOP=1 -f \(scope).sql DATABASE
            -- it leaves nothing for the service to make, which then needs no right to. Made of the code: a test compares.
            BEGIN;
            CREATE TABLE IF NOT EXISTS \(table);

            """
        let steps = migrations.map { migration in
            """

            -- \(migration.number): \(migration.name)
            \(migration.postgres.trimmingPrefix { $0.isWhitespace })
            INSERT INTO schema_migrations (scope, number, name) VALUES ('\(scope)', \(migration.number), '\(migration.name)');

            """
        }
        return head + steps.joined() + "COMMIT;\n"
    }

    /// Which migrations were applied.
    static let table = """
        schema_migrations (
            scope TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
            applied_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (scope, number))
        """
}
