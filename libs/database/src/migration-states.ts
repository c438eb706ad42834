import type { DataSource } from 'typeorm';

/** One migration, by its name, and whether it has run. */
export interface MigrationState extends Record<string, unknown> {
  migration: string;
  state: 'done' | 'pending';
}

/**
 * Which of the data source's migrations have run. Only looks: TypeORM's own way to find out makes the table that it asks.
 * @throws what the driver throws
 */
export async function migrationStates(dataSource: DataSource): Promise<MigrationState[]> {
  const done = await doneMigrations(dataSource);
  return dataSource.migrations.map((migration) => {
    const name = migration.name ?? migration.constructor.name;
    return { migration: name, state: done.has(name) ? 'done' : 'pending' };
  });
}

async function doneMigrations(dataSource: DataSource): Promise<Set<string>> {
  const { migrationsTableName: table = 'migrations' } = dataSource.options;
  const [found] = await dataSource.query<{ name: string | null }[]>(`SELECT to_regclass($1) AS name`, [
    table,
  ]);
  if (found?.name == null) {
    return new Set();
  }
  const rows = await dataSource.query<{ name: string }[]>(`SELECT name FROM "${table}"`);
  return new Set(rows.map(({ name }) => name));
}
