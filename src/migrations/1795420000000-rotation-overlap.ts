import { sqlMigration } from './sql-migration';

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
export const RotationOverlap1795420000000 = sqlMigration('RotationOverlap1795420000000', UP, DOWN);
