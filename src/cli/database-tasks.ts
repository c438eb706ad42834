import { DataSource } from 'typeorm';
import { migrate } from '#libs/database';
import { MIGRATIONS } from '../migrations';
import { withDatabase } from './administration';

/** Names of the migrations that were run now. */
export function migrateDatabase(): Promise<string[]> {
  return withDatabase(async (url, options) => {
    const dataSource = await new DataSource(options).initialize();
    try {
      return await migrate(dataSource, url);
    } finally {
      await dataSource.destroy();
    }
  });
}

export interface MigrationState extends Record<string, unknown> {
  migration: string;
  state: 'done' | 'pending';
}

export function migrationStatus(): Promise<MigrationState[]> {
  return withDatabase(async (_url, options) => {
    const dataSource = await new DataSource(options).initialize();
    try {
      const done = await doneMigrations(dataSource);
      return MIGRATIONS.map(({ name }) => ({ migration: name, state: done.has(name) ? 'done' : 'pending' }));
    } finally {
      await dataSource.destroy();
    }
  });
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
