import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  // What a client has used stays in usage_days; this is how much of the day does not count against its limit any more.
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

/** Every instance hears of it when a client's windows are begun anew. */
export class QuotaResets1795300000000 implements MigrationInterface {
  readonly name = 'QuotaResets1795300000000';

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
