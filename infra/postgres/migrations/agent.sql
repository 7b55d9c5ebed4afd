-- What the service makes in an empty PostgreSQL database when it starts. Applied by hand, as the owner of the tables,
--     psql -v ON_ERROR_STOP=1 -f agent.sql DATABASE
-- it leaves nothing for the service to make, which then needs no right to. Made of the code: a test compares.
BEGIN;
CREATE TABLE IF NOT EXISTS schema_migrations (
    scope TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
    applied_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (scope, number));

-- 1: inbox, state, outbox
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
INSERT INTO schema_migrations (scope, number, name) VALUES ('agent', 1, 'inbox, state, outbox');

-- 2: attempts
CREATE TABLE attempts (
    event_key TEXT PRIMARY KEY, count BIGINT NOT NULL, last_at BIGINT NOT NULL);
INSERT INTO schema_migrations (scope, number, name) VALUES ('agent', 2, 'attempts');

-- 3: deferred lanes
CREATE TABLE deferred_lane (
    user_key BYTEA PRIMARY KEY, partition BIGINT NOT NULL, due_at BIGINT NOT NULL,
    tries BIGINT NOT NULL, next_position BIGINT NOT NULL);
CREATE INDEX deferred_lane_due ON deferred_lane (due_at);
CREATE TABLE deferred_event (
    user_key BYTEA NOT NULL, position BIGINT NOT NULL, event_key TEXT NOT NULL,
    deferred_at BIGINT NOT NULL, sealed BYTEA NOT NULL,
    PRIMARY KEY (user_key, position), UNIQUE (user_key, event_key));
INSERT INTO schema_migrations (scope, number, name) VALUES ('agent', 3, 'deferred lanes');
COMMIT;
