import { sqlMigration } from './sql-migration';

/** Operators see the current minute without asking the instances. */
export const SavedMinutes1795850000000 = sqlMigration(
  'SavedMinutes1795850000000',
  [`ALTER TABLE usage_days ADD COLUMN minute_start timestamptz, ADD COLUMN minute_requests integer`],
  [`ALTER TABLE usage_days DROP COLUMN minute_start, DROP COLUMN minute_requests`],
);
