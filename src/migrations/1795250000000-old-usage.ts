import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds expired days without reading all the others. */
export class OldUsage1795250000000 implements MigrationInterface {
  readonly name = 'OldUsage1795250000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE INDEX usage_days_by_day ON usage_days (day)`);
    await queryRunner.query(`CREATE INDEX deprecated_calls_by_day ON deprecated_calls (day)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX usage_days_by_day, deprecated_calls_by_day`);
  }
}
