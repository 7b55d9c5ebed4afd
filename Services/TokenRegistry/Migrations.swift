import Database

/// The registry's tables.
///
/// Times are milliseconds since 1970; what would name a person or reach a phone is sealed.
enum Migrations {
    static let scope = "registry"

    static let all = [
        Migration(
            number: 1, name: "users, handles, tokens, activities, outbox",
            sqlite: counterSQLite + tables("BLOB", id: "INTEGER PRIMARY KEY AUTOINCREMENT"),
            postgres: counterPostgres + tables("BYTEA", id: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")),
        // Of the starts before, none is granted anew.
        Migration(
            number: 2, name: "starts of unknown outcome, cards in doubt",
            """
            ALTER TABLE registry_activities ADD COLUMN start_timestamp BIGINT;
            ALTER TABLE registry_activities ADD COLUMN is_start_repeated BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE registry_activities ADD COLUMN is_start_accepted BIGINT NOT NULL DEFAULT 1;
            ALTER TABLE registry_activities ADD COLUMN is_doubted BIGINT NOT NULL DEFAULT 0;
            """),
        Migration(
            number: 3, name: "time zone and locale of a device",
            """
            ALTER TABLE registry_start_tokens ADD COLUMN time_zone TEXT;
            ALTER TABLE registry_start_tokens ADD COLUMN locale TEXT;
            """),
        Migration(
            number: 4, name: "handles that users had", sqlite: formerHandles("BLOB"), postgres: formerHandles("BYTEA")),
    ]

    /// Generations come from one counter for all users: a handle's stay in order when it moves or comes back.
    private static let counterSQLite = """
        CREATE TABLE registry_generation (value INTEGER NOT NULL);
        INSERT INTO registry_generation (value) VALUES (0);
        """

    private static let counterPostgres = "CREATE SEQUENCE registry_generation;"

    private static func formerHandles(_ blob: String) -> String {
        """
        CREATE TABLE registry_former_handles (
            user_id TEXT NOT NULL REFERENCES registry_users (user_id) ON DELETE CASCADE,
            handle_hash \(blob) NOT NULL,
            sealed \(blob) NOT NULL,
            position BIGINT NOT NULL,
            PRIMARY KEY (user_id, handle_hash)
        );
        """
    }

    private static func tables(_ blob: String, id: String) -> String {
        """
        CREATE TABLE registry_users (
            user_id TEXT PRIMARY KEY,
            generation BIGINT NOT NULL,
            created_at BIGINT NOT NULL
        );
        CREATE TABLE registry_handles (
            handle_hash \(blob) PRIMARY KEY,
            sealed \(blob) NOT NULL,
            user_id TEXT NOT NULL REFERENCES registry_users (user_id) ON DELETE CASCADE,
            position BIGINT NOT NULL,
            is_canonical BIGINT NOT NULL
        );
        CREATE INDEX registry_handles_by_user ON registry_handles (user_id);
        CREATE TABLE registry_start_tokens (
            user_id TEXT NOT NULL REFERENCES registry_users (user_id) ON DELETE CASCADE,
            device_id TEXT NOT NULL,
            attributes_type TEXT NOT NULL,
            token_hash \(blob) NOT NULL,
            sealed \(blob) NOT NULL,
            environment TEXT,
            bundle_id TEXT,
            wants_input_push_token BIGINT NOT NULL,
            registered_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, device_id, attributes_type)
        );
        CREATE UNIQUE INDEX registry_start_tokens_by_token ON registry_start_tokens (token_hash, attributes_type);
        CREATE TABLE registry_activities (
            id TEXT PRIMARY KEY,
            user_id TEXT NOT NULL REFERENCES registry_users (user_id) ON DELETE CASCADE,
            device_id TEXT NOT NULL,
            attributes_type TEXT NOT NULL,
            session_id TEXT,
            generation BIGINT NOT NULL,
            state TEXT NOT NULL,
            ending TEXT,
            start_request TEXT,
            activity_id TEXT,
            token_hash \(blob),
            sealed \(blob),
            environment TEXT,
            bundle_id TEXT,
            registered_at BIGINT NOT NULL,
            started_at BIGINT NOT NULL,
            changed_at BIGINT NOT NULL
        );
        CREATE INDEX registry_activities_by_user ON registry_activities (user_id);
        CREATE UNIQUE INDEX registry_activities_by_token ON registry_activities (token_hash);
        CREATE UNIQUE INDEX registry_activities_fence
            ON registry_activities (user_id, device_id, attributes_type, session_id, generation)
            WHERE state = 'starting';
        CREATE TABLE registry_outbox (
            id \(id),
            owner TEXT NOT NULL,
            kind TEXT NOT NULL,
            generation BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            sealed \(blob) NOT NULL
        );
        """
    }
}
