import Database

/// The agent's tables, by numbered steps.
enum AgentMigrations {
    static let scope = "agent"

    static let all = [
        Migration(
            number: 1, name: "inbox, state, outbox",
            sqlite: """
                CREATE TABLE inbox (event_key TEXT PRIMARY KEY, seen_at INTEGER NOT NULL) WITHOUT ROWID;
                CREATE INDEX inbox_seen_at ON inbox (seen_at);
                CREATE TABLE user_state (
                    user_key BLOB PRIMARY KEY, version INTEGER NOT NULL, partition INTEGER NOT NULL, due_at INTEGER,
                    sealed BLOB NOT NULL) WITHOUT ROWID;
                CREATE INDEX user_state_due ON user_state (due_at) WHERE due_at IS NOT NULL;
                CREATE TABLE outbox (
                    event_key TEXT NOT NULL, position INTEGER NOT NULL, sealed BLOB NOT NULL,
                    PRIMARY KEY (event_key, position)) WITHOUT ROWID;
                CREATE TABLE replaced_state (
                    event_key TEXT PRIMARY KEY, user_key BLOB NOT NULL, replaced_at INTEGER NOT NULL,
                    sealed BLOB NOT NULL) WITHOUT ROWID;
                CREATE INDEX replaced_state_user ON replaced_state (user_key);
                """,
            postgres: """
                CREATE TABLE inbox (event_key TEXT PRIMARY KEY, seen_at BIGINT NOT NULL);
                CREATE INDEX inbox_seen_at ON inbox (seen_at);
                CREATE TABLE user_state (
                    user_key BYTEA PRIMARY KEY, version BIGINT NOT NULL, partition BIGINT NOT NULL, due_at BIGINT,
                    sealed BYTEA NOT NULL);
                CREATE INDEX user_state_due ON user_state (due_at) WHERE due_at IS NOT NULL;
                CREATE TABLE outbox (
                    event_key TEXT NOT NULL, position BIGINT NOT NULL, sealed BYTEA NOT NULL,
                    PRIMARY KEY (event_key, position));
                CREATE TABLE replaced_state (
                    event_key TEXT PRIMARY KEY, user_key BYTEA NOT NULL, replaced_at BIGINT NOT NULL,
                    sealed BYTEA NOT NULL);
                CREATE INDEX replaced_state_user ON replaced_state (user_key);
                """),
        Migration(
            number: 2, name: "attempts",
            sqlite: """
                CREATE TABLE attempts (
                    event_key TEXT PRIMARY KEY, count INTEGER NOT NULL, last_at INTEGER NOT NULL) WITHOUT ROWID;
                """,
            postgres: """
                CREATE TABLE attempts (
                    event_key TEXT PRIMARY KEY, count BIGINT NOT NULL, last_at BIGINT NOT NULL);
                """),
        Migration(
            number: 3, name: "deferred lanes",
            sqlite: """
                CREATE TABLE deferred_lane (
                    user_key BLOB PRIMARY KEY, partition INTEGER NOT NULL, due_at INTEGER NOT NULL,
                    tries INTEGER NOT NULL, next_position INTEGER NOT NULL) WITHOUT ROWID;
                CREATE INDEX deferred_lane_due ON deferred_lane (due_at);
                CREATE TABLE deferred_event (
                    user_key BLOB NOT NULL, position INTEGER NOT NULL, event_key TEXT NOT NULL,
                    deferred_at INTEGER NOT NULL, sealed BLOB NOT NULL,
                    PRIMARY KEY (user_key, position), UNIQUE (user_key, event_key)) WITHOUT ROWID;
                """,
            postgres: """
                CREATE TABLE deferred_lane (
                    user_key BYTEA PRIMARY KEY, partition BIGINT NOT NULL, due_at BIGINT NOT NULL,
                    tries BIGINT NOT NULL, next_position BIGINT NOT NULL);
                CREATE INDEX deferred_lane_due ON deferred_lane (due_at);
                CREATE TABLE deferred_event (
                    user_key BYTEA NOT NULL, position BIGINT NOT NULL, event_key TEXT NOT NULL,
                    deferred_at BIGINT NOT NULL, sealed BYTEA NOT NULL,
                    PRIMARY KEY (user_key, position), UNIQUE (user_key, event_key));
                """),
    ]
}
