import { SqlMigration } from './sql-migration';

/** Distinguishes an operator's bans from those that keys have earned. */
export class BansByOperators1795650000000 extends SqlMigration {
  readonly name = 'BansByOperators1795650000000';

  readonly upward = [`ALTER TABLE key_bans ADD COLUMN by_operator boolean NOT NULL DEFAULT false`];
  readonly downward = [`ALTER TABLE key_bans DROP COLUMN by_operator`];
}
