import { Client } from 'pg';
import type { DataSource } from 'typeorm';

/** Any number that no other program uses on the same database will do; this one spells "migr". */
const MIGRATION_LOCK = 0x6d696772;

/**
 * Brings the database to the newest migration while holding an advisory lock, so that any number of instances may
 * start at once: one migrates, the others wait and find nothing left to do. The lock lives on a connection of its
 * own, so a process that dies in the middle gives it back.
 * @returns the names of the migrations that were run now.
 */
export async function migrate(dataSource: DataSource, url: string): Promise<string[]> {
  const lock = new Client({ connectionString: url });
  // A connection that is lost meanwhile is told of by the next statement.
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
