import { sqlMigration } from './sql-migration';

/** An index on the day itself, in place of a generated column: TypeORM cannot compare one with an entity. */
export const DayOfDeliveries1795750000000 = sqlMigration(
  'DayOfDeliveries1795750000000',
  [
    `ALTER TABLE webhook_deliveries DROP COLUMN day`,
    `CREATE INDEX webhook_deliveries_by_day ON webhook_deliveries (((created_at AT TIME ZONE 'UTC')::date))`,
  ],
  [
    `DROP INDEX webhook_deliveries_by_day`,
    `ALTER TABLE webhook_deliveries
      ADD COLUMN day date NOT NULL GENERATED ALWAYS AS ((created_at AT TIME ZONE 'UTC')::date) STORED`,
    `CREATE INDEX webhook_deliveries_by_day ON webhook_deliveries (day)`,
  ],
);
