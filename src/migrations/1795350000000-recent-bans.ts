import { sqlMigration } from './sql-migration';

const UP = [
  // An instance that missed notifications reads the recent changes, including lifted bans.
  `ALTER TABLE key_bans ADD COLUMN changed_at timestamptz NOT NULL DEFAULT now()`,
  `CREATE INDEX key_bans_by_change ON key_bans (changed_at)`,
  `CREATE FUNCTION note_ban_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.changed_at := now(); RETURN NEW; END $$`,
  `CREATE TRIGGER key_bans_note_change BEFORE UPDATE ON key_bans FOR EACH ROW EXECUTE FUNCTION note_ban_change()`,
];

const DOWN = [
  `DROP TRIGGER key_bans_note_change ON key_bans`,
  `DROP FUNCTION note_ban_change`,
  `ALTER TABLE key_bans DROP COLUMN changed_at`,
];

/** Records when a ban was added, extended or lifted. */
export const RecentBans1795350000000 = sqlMigration('RecentBans1795350000000', UP, DOWN);
