-- What the service makes in an empty PostgreSQL database when it starts. Applied by hand, as the owner of the tables,
--     psql -v ON_ERROR_STOP=1 -f registry.sql DATABASE
-- it leaves nothing for the service to make, which then needs no right to. Made of the code: a test compares.
BEGIN;
CREATE TABLE IF NOT EXISTS schema_migrations (
    scope TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
    applied_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (scope, number));

-- 1: users, handles, tokens, activities, outbox
CREATE SEQUENCE registry_generation;CREATE TABLE registry_users (
    user_id TEXT PRIMARY KEY,
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE registry_handles (
    handle_hash BYTEA PRIMARY KEY,
    sealed BYTEA NOT NULL,
    user_id TEXT NOT NULL REFERENCES registry_users (user_id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    is_canonical BIGINT NOT NULL
);
CREATE INDEX registry_handles_by_user ON registry_handles (user_id);
CREATE TABLE registry_start_tokens (
    user_id TEXT NOT NULL REFERENCES registry_users (user_id) ON DELETE CASCADE,
    device_id TEXT NOT NULL,
    attributes_type TEXT NOT NULL,
    token_hash BYTEA NOT NULL,
    sealed BYTEA NOT NULL,
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
    token_hash BYTEA,
    sealed BYTEA,
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
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    sealed BYTEA NOT NULL
);
INSERT INTO schema_migrations (scope, number, name) VALUES ('registry', 1, 'users, handles, tokens, activities, outbox');

-- 2: starts of unknown outcome, cards in doubt
ALTER TABLE registry_activities ADD COLUMN start_timestamp BIGINT;
ALTER TABLE registry_activities ADD COLUMN is_start_repeated BIGINT NOT NULL DEFAULT 0;
ALTER TABLE registry_activities ADD COLUMN is_start_accepted BIGINT NOT NULL DEFAULT 1;
ALTER TABLE registry_activities ADD COLUMN is_doubted BIGINT NOT NULL DEFAULT 0;
INSERT INTO schema_migrations (scope, number, name) VALUES ('registry', 2, 'starts of unknown outcome, cards in doubt');

-- 3: time zone and locale of a device
ALTER TABLE registry_start_tokens ADD COLUMN time_zone TEXT;
ALTER TABLE registry_start_tokens ADD COLUMN locale TEXT;
INSERT INTO schema_migrations (scope, number, name) VALUES ('registry', 3, 'time zone and locale of a device');

-- 4: handles that users had
CREATE TABLE registry_former_handles (
    user_id TEXT NOT NULL REFERENCES registry_users (user_id) ON DELETE CASCADE,
    handle_hash BYTEA NOT NULL,
    sealed BYTEA NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (user_id, handle_hash)
);
INSERT INTO schema_migrations (scope, number, name) VALUES ('registry', 4, 'handles that users had');
COMMIT;
