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

/** Waits until nobody migrates this database, and keeps others from it until the transaction ends. */
export async function lockMigrations(transaction: EntityManager): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
}

/**
 * Runs pending migrations within the given transaction.
 * @param last the name of the last one to run; by default the newest
 */
export async function migrateWithin(transaction: EntityManager, last?: string): Promise<void> {
  const executor = new MigrationExecutor(transaction.dataSource, transaction.queryRunner);
  for (const migration of await executor.getPendingMigrations()) {
    await executor.executeMigration(migration);
    if (migration.name === last) {
      return;
    }
  }
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
  const done = await doneMigrations(dataSource.manager);
  return dataSource.migrations.map((migration) => {
    const name = migration.name ?? migration.constructor.name;
    return { migration: name, state: done.includes(name) ? 'done' : 'pending' };
  });
}

/** The names of the migrations that have run, in order. Changes nothing. */
export async function doneMigrations(reader: EntityManager): Promise<string[]> {
  const { migrationsTableName: table = 'migrations' } = reader.dataSource.options;
  const [found] = await reader.query<{ name: string | null }[]>(`SELECT to_regclass($1) AS name`, [table]);
  if (found?.name == null) {
    return [];
  }
  const rows = await reader.query<{ name: string }[]>(`SELECT name FROM "${table}" ORDER BY id`);
  return rows.map(({ name }) => name);
}
