import { sqlMigration } from './sql-migration';

/** Instances read a key, its ban and the last reset again within a second. `changed_at` is set by the statements themselves. */
export const NoNotifications1796100000000 = sqlMigration(
  'NoNotifications1796100000000',
  [
    'DROP TRIGGER clients_changed ON clients',
    'DROP TRIGGER api_keys_changed ON api_keys',
    'DROP TRIGGER quota_resets_changed ON quota_resets',
    'DROP TRIGGER key_bans_changed ON key_bans',
    'DROP TRIGGER key_bans_note_change ON key_bans',
    `DROP FUNCTION notify_client_changed, notify_key_changed, notify_quota_reset, notify_ban_changed, note_ban_change`,
    'DROP INDEX key_bans_by_change',
  ],
  [
    `CREATE INDEX key_bans_by_change ON key_bans (changed_at)`,
    `CREATE FUNCTION note_ban_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.changed_at := now(); RETURN NEW; END $$`,
    `CREATE TRIGGER key_bans_note_change BEFORE UPDATE ON key_bans FOR EACH ROW EXECUTE FUNCTION note_ban_change()`,
    `CREATE FUNCTION notify_ban_changed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_notify('petstore_bans', NEW.key_id::text); RETURN NULL; END $$`,
    `CREATE TRIGGER key_bans_changed AFTER INSERT OR UPDATE ON key_bans
      FOR EACH ROW EXECUTE FUNCTION notify_ban_changed()`,
    `CREATE FUNCTION notify_quota_reset() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_notify('petstore_quota_resets', NEW.client_id::text); RETURN NULL; END $$`,
    `CREATE TRIGGER quota_resets_changed AFTER INSERT OR UPDATE ON quota_resets
      FOR EACH ROW EXECUTE FUNCTION notify_quota_reset()`,
    `CREATE FUNCTION notify_client_changed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_notify('petstore_keys', NEW.id::text); RETURN NULL; END $$`,
    `CREATE FUNCTION notify_key_changed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP <> 'INSERT' THEN PERFORM pg_notify('petstore_keys', OLD.client_id::text); END IF;
        IF TG_OP <> 'DELETE' THEN PERFORM pg_notify('petstore_keys', NEW.client_id::text); END IF;
        RETURN NULL;
      END $$`,
    `CREATE TRIGGER clients_changed AFTER UPDATE OF name, plan, per_minute, per_day ON clients
      FOR EACH ROW EXECUTE FUNCTION notify_client_changed()`,
    `CREATE TRIGGER api_keys_changed AFTER INSERT OR DELETE OR UPDATE OF client_id, digest, scopes, expires_at, revoked_at
      ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_key_changed()`,
  ],
);
