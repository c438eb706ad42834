import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  // Position 1 is left free: a cursor that has seen nothing stands there. A timestamp is what is answered, to the microsecond:
  // a Date of the driver has milliseconds, in which one pet may have changed twice.
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
  // Days follow each other in the table, so a summary of its blocks finds the old ones, and costs an insert nothing.
  `CREATE INDEX events_by_day ON events USING brin (day)`,

  // Whoever inserts waits until everybody who has inserted before is committed. So positions, which are taken after this
  // trigger, are in the order of commit: nobody sees a position before all smaller ones that there will ever be. The lock's
  // number spells "evnt".
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

/** What happened in the store, in the order in which it was committed. */
export class Events1795500000000 implements MigrationInterface {
  readonly name = 'Events1795500000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) {
      await queryRunner.query(statement);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) {
      await queryRunner.query(statement);
    }
  }
}
