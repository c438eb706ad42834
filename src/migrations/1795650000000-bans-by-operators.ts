import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Distinguishes an operator's bans from those that keys have earned. */
export class BansByOperators1795650000000 implements MigrationInterface {
  readonly name = 'BansByOperators1795650000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE key_bans ADD COLUMN by_operator boolean NOT NULL DEFAULT false`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE key_bans DROP COLUMN by_operator`);
  }
}
