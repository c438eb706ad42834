import { sqlMigration } from './sql-migration';

export const EVENTS = [
  // Position 1 stays free, for a cursor that has seen nothing. The timestamp is returned with microseconds: the
  // driver's Date has milliseconds, in which a pet may change twice.
  `CREATE TABLE events (
    position bigint GENERATED ALWAYS AS IDENTITY (START WITH 2) PRIMARY KEY,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    type text NOT NULL,
    pet_id bigint,
    data json NOT NULL,
    timestamp text NOT NULL DEFAULT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    day date NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC')::date
  )`,
  `CREATE INDEX events_by_type ON events (type, position)`,
  `CREATE INDEX events_by_pet ON events (pet_id, type DESC, position) WHERE pet_id IS NOT NULL`,
  // Rows are in the order of their days, so a block range index finds old ones, and makes inserts no slower.
  `CREATE INDEX events_by_day ON events USING brin (day)`,

  // An insert waits until all earlier inserts are committed. So positions, which are assigned after this trigger, are
  // in commit order: whoever sees a position has seen all smaller ones. The lock's number spells "evnt".
  `CREATE FUNCTION put_events_in_order() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(1702260340);
      PERFORM pg_notify('petstore_events', '');
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER events_in_order BEFORE INSERT ON events
    FOR EACH STATEMENT EXECUTE FUNCTION put_events_in_order()`,
];

const DOWN = [`DROP TABLE events`, `DROP FUNCTION put_events_in_order`];

/** The events of the store, in commit order. */
export const Events1795500000000 = sqlMigration('Events1795500000000', EVENTS, DOWN);
