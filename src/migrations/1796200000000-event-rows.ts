import type { MigrationInterface, QueryRunner } from 'typeorm';

const BLOCK_EVENTS = `FROM event_blocks AS block, json_array_elements(block.events::json) WITH ORDINALITY AS event (value, place)`;

/** A row for each event, and deliveries that refer to it. Positions change, and with them the cursors of followers. */
const EVENTS = [
  `CREATE TABLE events (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time timestamptz NOT NULL DEFAULT clock_timestamp(),
    id uuid NOT NULL,
    type text NOT NULL,
    pet_id bigint,
    data text NOT NULL
  )`,
  `INSERT INTO events (time, id, type, pet_id, data)
    SELECT block.time + (place - 1) * interval '1 microsecond', (value ->> 'id')::uuid, value ->> 'type',
      (value ->> 'petId')::bigint, value ->> 'data'
    ${BLOCK_EVENTS} ORDER BY block.position, place`,

  `CREATE TEMPORARY TABLE renumbered ON COMMIT DROP AS
    SELECT row_number() OVER (ORDER BY block.position, place) AS position, block.position * 100 + place - 1 AS former
    ${BLOCK_EVENTS}`,
  `CREATE INDEX ON renumbered (former)`,
  `UPDATE webhook_dispatch SET
    position = (SELECT coalesce(max(renumbered.position), 0) FROM renumbered WHERE former <= webhook_dispatch.position)`,
  `UPDATE webhooks SET
    since = (SELECT coalesce(max(position), 0) FROM renumbered WHERE former <= since)`,

  // Without a position: a test, or an event that has expired.
  `ALTER TABLE webhook_deliveries ADD COLUMN position bigint`,
  `UPDATE webhook_deliveries SET position = events.position FROM events
    WHERE event_id = 'evt_' || replace(events.id::text, '-', '')`,
  `ALTER TABLE webhook_deliveries DROP COLUMN payload`,
  // The instance that sends the deliveries of a webhook, and the end of its lease.
  `ALTER TABLE webhooks DROP COLUMN probing_until, ADD COLUMN sender uuid, ADD COLUMN leased_until timestamptz`,

  // A webhook receives events committed after it was enabled.
  `CREATE OR REPLACE FUNCTION begin_webhook_now() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' OR NOT OLD.enabled THEN
      NEW.since := (SELECT coalesce(max(position), 0) FROM events);
    END IF;
    RETURN NEW;
  END $$`,
  // An insert waits until all earlier inserts are committed. So positions, which are assigned after this trigger, are
  // in commit order: whoever sees a position has seen all smaller ones.
  `CREATE TRIGGER events_in_order BEFORE INSERT ON events
    FOR EACH STATEMENT EXECUTE FUNCTION put_events_in_order()`,
  `DROP TABLE event_blocks`,
];

const OTHERS = [
  // Operators see the current minute without asking the instances. Some stores have these columns already.
  `ALTER TABLE usage_days ADD COLUMN IF NOT EXISTS minute_start timestamptz,
    ADD COLUMN IF NOT EXISTS minute_requests integer`,
  `DELETE FROM schema_migrations WHERE name = 'SavedMinutes1795850000000'`,

  // An available pet can be ordered, so one without stock is pending while an order is open, else sold.
  `UPDATE pets SET status = CASE WHEN EXISTS
      (SELECT FROM orders WHERE pet_id = pets.id AND cancelled_at IS NULL AND complete = false)
      THEN 'pending' ELSE 'sold' END
    FROM inventory WHERE inventory.pet_id = pets.id AND quantity = 0
      AND deleted_at IS NULL AND status IN ('available', 'pending')`,

  // Instances read a key, its ban and the last reset again within a second: nobody is notified. `changed_at` is set by the
  // statements themselves.
  'DROP TRIGGER clients_changed ON clients',
  'DROP TRIGGER api_keys_changed ON api_keys',
  'DROP TRIGGER quota_resets_changed ON quota_resets',
  'DROP TRIGGER key_bans_changed ON key_bans',
  'DROP TRIGGER key_bans_note_change ON key_bans',
  'DROP FUNCTION notify_client_changed, notify_key_changed, notify_quota_reset, notify_ban_changed, note_ban_change',
  'DROP INDEX key_bans_by_change',

  // The audit log is read by time.
  'DROP INDEX audit_entries_by_client, audit_entries_by_key, audit_entries_by_new_key, audit_entries_by_action',
];

export class EventRows1796200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...EVENTS, ...OTHERS]) {
      await queryRunner.query(statement);
    }
  }

  /** Events cannot be packed into blocks again. */
  down(): Promise<void> {
    return Promise.reject(new Error('The events of this schema have no older form: restore a backup.'));
  }
}
