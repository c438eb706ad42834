import { DataSource } from 'typeorm';
import { migrate } from '#libs/database';
import { withDatabase } from './administration';
import { type MigrationState, migrationStates } from './migration-state';

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

/** Which migrations have run; changes nothing. */
export function migrationStatus(): Promise<MigrationState[]> {
  return withDatabase(async (_url, options) => {
    const dataSource = await new DataSource(options).initialize();
    try {
      return await migrationStates(dataSource);
    } finally {
      await dataSource.destroy();
    }
  });
}
