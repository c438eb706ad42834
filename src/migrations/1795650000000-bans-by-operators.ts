import { sqlMigration } from './sql-migration';

/** Distinguishes an operator's bans from those that keys have earned. */
export const BansByOperators1795650000000 = sqlMigration(
  'BansByOperators1795650000000',
  [`ALTER TABLE key_bans ADD COLUMN by_operator boolean NOT NULL DEFAULT false`],
  [`ALTER TABLE key_bans DROP COLUMN by_operator`],
);
