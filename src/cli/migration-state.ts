import type { DataSource } from 'typeorm';
import { MIGRATIONS } from '../migrations';

export interface MigrationState extends Record<string, unknown> {
  migration: string;
  state: 'done' | 'pending';
}

/** Which migrations have run. Only looks: TypeORM's own way to find out makes the table that it asks. */
export async function migrationStates(dataSource: DataSource): Promise<MigrationState[]> {
  const done = await doneMigrations(dataSource);
  return MIGRATIONS.map(({ name }) => ({ migration: name, state: done.has(name) ? 'done' : 'pending' }));
}

async function doneMigrations(dataSource: DataSource): Promise<Set<string>> {
  const [table] = await dataSource.query<{ name: string | null }[]>(
    `SELECT to_regclass('schema_migrations') AS name`,
  );
  if (table?.name == null) {
    return new Set();
  }
  const rows = await dataSource.query<{ name: string }[]>(`SELECT name FROM schema_migrations`);
  return new Set(rows.map(({ name }) => name));
}
