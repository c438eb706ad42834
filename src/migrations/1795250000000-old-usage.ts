import { SqlMigration } from './sql-migration';

/** Finds expired days without reading all the others. */
export class OldUsage1795250000000 extends SqlMigration {
  readonly name = 'OldUsage1795250000000';

  readonly upward = [
    `CREATE INDEX usage_days_by_day ON usage_days (day)`,
    `CREATE INDEX deprecated_calls_by_day ON deprecated_calls (day)`,
  ];
  readonly downward = [`DROP INDEX usage_days_by_day, deprecated_calls_by_day`];
}
