import { Client } from 'pg';
import { type DataSource, type EntityManager, MigrationExecutor } from 'typeorm';

/** Any number that no other program uses on this database; this one spells "migr". */
const MIGRATION_LOCK = 0x6d696772;

/**
 * Brings the database to the newest migration while holding an advisory lock, so that any number of instances can start
 * at once: one migrates, the others wait. The lock belongs to its own connection, so it is released when the process
 * dies.
 * @returns the names of the migrations that were run now
 */
export async function migrate(dataSource: DataSource, url: string): Promise<string[]> {
  const lock = new Client({ connectionString: url });
  // If the connection is lost, the next statement reports it.
  lock.on('error', () => undefined);
  await lock.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const done = await dataSource.runMigrations({ transaction: 'each' });
    return done.map((migration) => migration.name);
  } finally {
    await lock.end();
  }
}

/** Brings an empty database to the newest migration, within the given transaction. */
export async function migrateWithin(transaction: EntityManager): Promise<void> {
  const executor = new MigrationExecutor(transaction.dataSource, transaction.queryRunner);
  executor.transaction = 'none';
  await executor.executePendingMigrations();
}

/** One migration, by its name, and whether it has run. */
export interface MigrationState extends Record<string, unknown> {
  migration: string;
  state: 'done' | 'pending';
}

/**
 * Lists the data source's migrations and whether they have run. Changes nothing, while TypeORM's own check creates its
 * table.
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
