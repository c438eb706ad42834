import { sqlMigration } from './sql-migration';

const BLOCK_EVENTS = `FROM event_blocks AS block, json_array_elements(block.events::json) WITH ORDINALITY AS event (value, place)`;

/** A row for each event, and deliveries that refer to it. Positions change, and with them the cursors of followers. */
export const EventRows1796000000000 = sqlMigration(
  'EventRows1796000000000',
  [
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
  ],
  [`DO $$ BEGIN RAISE EXCEPTION 'Events cannot be packed into blocks again: restore a backup.'; END $$`],
);
