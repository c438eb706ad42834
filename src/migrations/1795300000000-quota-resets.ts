import { sqlMigration } from './sql-migration';

const UP = [
  // Usage stays in usage_days; this is the part of the day that no longer counts against the limit.
  `CREATE TABLE quota_resets (
    client_id bigint PRIMARY KEY REFERENCES clients (id) ON DELETE CASCADE,
    day date NOT NULL,
    requests bigint NOT NULL,
    reset_at timestamptz NOT NULL
  )`,
  `CREATE FUNCTION notify_quota_reset() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_notify('petstore_quota_resets', NEW.client_id::text); RETURN NULL; END $$`,
  `CREATE TRIGGER quota_resets_changed AFTER INSERT OR UPDATE ON quota_resets
    FOR EACH ROW EXECUTE FUNCTION notify_quota_reset()`,
];

const DOWN = [`DROP TABLE quota_resets`, `DROP FUNCTION notify_quota_reset`];

/** Notifies every instance when a client's windows are reset. */
export const QuotaResets1795300000000 = sqlMigration('QuotaResets1795300000000', UP, DOWN);
