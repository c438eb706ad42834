import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Converts stored names to Unicode's composed form (NFC), because requests now search for names in this form. Keeps a
 * name whose composed form is longer than the table allows, which is 200 or 100 characters.
 */
const NAMES = Object.entries({ pets: 200, categories: 200, api_keys: 100 }).map(
  ([table, maxLength]) => `UPDATE ${table} SET name = normalize(name)
    WHERE name IS NOT NFC NORMALIZED AND char_length(normalize(name)) <= ${maxLength}`,
);

/**
 * Makes PostgreSQL compare texts such as keys and names of clients by their bytes. Otherwise an update of the operating
 * system could change the order of the texts, and an index could miss rows.
 */
const BYTEWISE = [
  // Build the index of the primary key again. If the store was moved to a system whose collation sorts texts in another
  // order, a search in this index may have missed a row, so a second record with the same name may have been inserted.
  // Of records with the same name, keep only the earliest record.
  `ALTER TABLE idempotency_records DROP CONSTRAINT idempotency_records_pkey`,
  `DELETE FROM idempotency_records AS later USING idempotency_records AS earlier
    WHERE earlier.name = later.name AND (earlier.created_at, earlier.ctid) < (later.created_at, later.ctid)`,
  `ALTER TABLE idempotency_records ALTER name TYPE text COLLATE "C", ADD PRIMARY KEY (name)`,
  `ALTER TABLE api_keys ALTER digest TYPE text COLLATE "C"`,
  `ALTER TABLE clients ALTER name TYPE text COLLATE "C"`,
  `ALTER TABLE deprecated_calls ALTER operation TYPE text COLLATE "C"`,
];

/** Lets the functions of the event feed find their sequence even if pg_restore has emptied the search path. */
const FEED = [
  `CREATE OR REPLACE FUNCTION announce_events() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      sequence regclass := format('%I.events_position_seq', TG_TABLE_SCHEMA);
    BEGIN
      IF pg_advisory_xact_lock_shared(sequence::oid::integer,
          coalesce(pg_sequence_last_value(sequence), 0)::bit(32)::integer) IS NULL THEN
        RAISE EXCEPTION 'The lock was not taken.';
      END IF;
      RETURN NULL;
    END $$`,
  `DROP FUNCTION feed_end()`,
  // The default value stays valid with any search path, because PostgreSQL stores it as the id of the sequence.
  `CREATE FUNCTION feed_end(sequence regclass DEFAULT 'events_position_seq') RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      newest bigint := coalesce(pg_sequence_last_value(sequence), 0);
    BEGIN
      RETURN newest - (SELECT greatest(0, max((newest - objid::bigint)::bit(32)::integer)) FROM pg_locks
        WHERE locktype = 'advisory' AND classid = sequence AND objsubid = 2
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database()));
    END $$`,
];

/**
 * A trigger sets the position of a webhook to the end of the feed when the webhook is enabled, or is inserted without
 * a position. A webhook that is restored from a backup is inserted with its position, which the trigger keeps.
 */
const WEBHOOKS = [
  `ALTER TABLE webhooks ALTER since DROP DEFAULT`,
  `CREATE OR REPLACE FUNCTION begin_webhook_now() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      EXECUTE format('SELECT %I.feed_end()', TG_TABLE_SCHEMA) INTO NEW.since;
      RETURN NEW;
    END $$`,
  `CREATE OR REPLACE TRIGGER webhooks_begin_now BEFORE INSERT ON webhooks
    FOR EACH ROW WHEN (NEW.since IS NULL) EXECUTE FUNCTION begin_webhook_now()`,
  `CREATE TRIGGER webhooks_begin_again BEFORE UPDATE OF enabled ON webhooks
    FOR EACH ROW WHEN (NEW.enabled AND NOT OLD.enabled) EXECUTE FUNCTION begin_webhook_now()`,
  `ALTER FUNCTION limit_webhooks_of_client() SET search_path FROM CURRENT`,
];

export class MovableStore1797100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...NAMES, ...BYTEWISE, ...FEED, ...WEBHOOKS]) {
      await queryRunner.query(statement);
    }
  }

  down(): Promise<void> {
    return Promise.reject(new Error('This migration cannot be undone: restore a backup instead.'));
  }
}
