import { DataSource } from 'typeorm';
import { type MigrationState, migrationStates } from '#libs/database';
import { migrateToNewest } from '../runtime/data-source';
import { withDatabase } from './administration';

/** Names of the migrations that were run now. */
export function migrateDatabase(): Promise<string[]> {
  return withDatabase(migrateToNewest);
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
