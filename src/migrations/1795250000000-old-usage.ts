import { sqlMigration } from './sql-migration';

/** Finds expired days without reading all the others. */
export const OldUsage1795250000000 = sqlMigration(
  'OldUsage1795250000000',
  [
    `CREATE INDEX usage_days_by_day ON usage_days (day)`,
    `CREATE INDEX deprecated_calls_by_day ON deprecated_calls (day)`,
  ],
  [`DROP INDEX usage_days_by_day, deprecated_calls_by_day`],
);
