import type { MigrationInterface, QueryRunner } from 'typeorm';

export class MinuteRefunds1796300000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE usage_days ADD COLUMN minute_refunds integer NOT NULL DEFAULT 0');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE usage_days DROP COLUMN minute_refunds');
  }
}
