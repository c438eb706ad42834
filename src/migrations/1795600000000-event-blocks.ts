import { EVENTS } from './1795500000000-events';
import { sqlMigration } from './sql-migration';

const TYPES = [
  'pet.created',
  'pet.updated',
  'pet.deleted',
  'category.created',
  'category.updated',
  'category.deleted',
  'order.placed',
  'order.updated',
  'order.completed',
  'order.cancelled',
  'inventory.updated',
];

const UP = [
  // `types` has a bit for each type; `events` is JSON, uncompressed because compression would take as long as the rest
  // of a write. `day` has a block range index, which makes inserts no slower.
  `CREATE TABLE event_blocks (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    size smallint NOT NULL,
    types integer NOT NULL,
    pets bigint[] NOT NULL,
    events text NOT NULL,
    time timestamptz NOT NULL DEFAULT clock_timestamp(),
    day date NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC')::date
  )`,
  `ALTER TABLE event_blocks ALTER events SET STORAGE EXTERNAL`,
  `CREATE INDEX event_blocks_by_day ON event_blocks USING brin (day)`,
  `INSERT INTO event_blocks (position, size, types, pets, events, time, day) OVERRIDING SYSTEM VALUE
    SELECT position, 1, 1 << array_position(ARRAY['${TYPES.join("', '")}'], type) - 1, array_remove(ARRAY[pet_id], NULL),
      json_build_array(json_build_object('id', replace(id::text, '-', ''), 'type', type, 'petId', pet_id, 'data', data)),
      timestamp::timestamptz, day
    FROM events ORDER BY position`,
  `SELECT setval('event_blocks_position_seq', last_value) FROM events_position_seq`,
  `DROP TABLE events`,
  `DROP FUNCTION put_events_in_order`,

  // An insert waits until all earlier inserts are committed. So positions, which are assigned after this trigger, are
  // in commit order: whoever sees a position has seen all smaller ones. The lock's number spells "evnt".
  `CREATE FUNCTION put_events_in_order() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(1702260340);
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER events_in_order BEFORE INSERT ON event_blocks
    FOR EACH STATEMENT EXECUTE FUNCTION put_events_in_order()`,
  // A position in the feed is a block's position followed by two digits.
  `UPDATE webhook_dispatch SET position = position * 100 + 99`,

  // A webhook receives events committed after it was enabled. A pause that its receiver requested ends when the webhook
  // is changed.
  `ALTER TABLE webhooks ADD since bigint NOT NULL DEFAULT 0`,
  `CREATE FUNCTION begin_webhook_now() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.paused_until := NULL;
      IF TG_OP = 'INSERT' OR NOT OLD.enabled THEN
        NEW.since := (SELECT coalesce(max(position), 0) FROM event_blocks) * 100 + 99;
      END IF;
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER webhooks_begin_now BEFORE INSERT OR UPDATE OF enabled, url ON webhooks
    FOR EACH ROW WHEN (NEW.enabled) EXECUTE FUNCTION begin_webhook_now()`,
];

const DOWN = [
  `DROP TRIGGER webhooks_begin_now ON webhooks`,
  `DROP FUNCTION begin_webhook_now`,
  `ALTER TABLE webhooks DROP since`,
  `INSERT INTO events (position, id, type, pet_id, data, timestamp, day) OVERRIDING SYSTEM VALUE
    SELECT position * 100 + place - 1, (event ->> 'id')::uuid, event ->> 'type', (event ->> 'petId')::bigint, event -> 'data',
      to_char((time + (place - 1) * interval '1 microsecond') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), day
    FROM event_blocks, json_array_elements(events::json) WITH ORDINALITY AS each (event, place)`,
  `SELECT setval('events_position_seq', last_value * 100 + 99) FROM event_blocks_position_seq`,
  `DROP TABLE event_blocks`,
];

/** Stores events in blocks, one per commit. */
export const EventBlocks1795600000000 = sqlMigration('EventBlocks1795600000000', UP, [
  `DROP TRIGGER events_in_order ON event_blocks`,
  `DROP FUNCTION put_events_in_order`,
  ...EVENTS,
  ...DOWN,
]);
