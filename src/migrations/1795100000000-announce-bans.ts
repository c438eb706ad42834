import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Notifies every instance of a ban that another instance or the command line adds or lifts. */
export class AnnounceBans1795100000000 implements MigrationInterface {
  readonly name = 'AnnounceBans1795100000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE FUNCTION notify_ban_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_notify('petstore_bans', NEW.key_id::text); RETURN NULL; END $$`,
    );
    await queryRunner.query(
      `CREATE TRIGGER key_bans_changed AFTER INSERT OR UPDATE ON key_bans
        FOR EACH ROW EXECUTE FUNCTION notify_ban_changed()`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TRIGGER key_bans_changed ON key_bans`);
    await queryRunner.query(`DROP FUNCTION notify_ban_changed`);
  }
}
