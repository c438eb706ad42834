import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  // Distinguishes the end of a rotation's overlap from an agreed expiry.
  `ALTER TABLE api_keys ADD COLUMN overlap_ends_at timestamptz`,
  `UPDATE api_keys SET overlap_ends_at = expires_at
    WHERE expires_at IS NOT NULL AND EXISTS (
      SELECT FROM audit_entries WHERE audit_entries.key_id = api_keys.id AND action = 'key.rotated'
    )`,
];

const DOWN = [`ALTER TABLE api_keys DROP COLUMN overlap_ends_at`];

/** Records which keys were rotated, and when the overlap ends. */
export class RotationOverlap1795420000000 implements MigrationInterface {
  readonly name = 'RotationOverlap1795420000000';

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
