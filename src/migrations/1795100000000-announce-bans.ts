import { sqlMigration } from './sql-migration';

/** Notifies every instance of a ban that another instance or the command line adds or lifts. */
export const AnnounceBans1795100000000 = sqlMigration(
  'AnnounceBans1795100000000',
  [
    `CREATE FUNCTION notify_ban_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_notify('petstore_bans', NEW.key_id::text); RETURN NULL; END $$`,
    `CREATE TRIGGER key_bans_changed AFTER INSERT OR UPDATE ON key_bans
        FOR EACH ROW EXECUTE FUNCTION notify_ban_changed()`,
  ],
  [`DROP TRIGGER key_bans_changed ON key_bans`, `DROP FUNCTION notify_ban_changed`],
);
