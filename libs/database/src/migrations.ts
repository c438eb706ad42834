import { setTimeout as pause } from 'node:timers/promises';
import { type DataSource, type EntityManager, type Migration, MigrationExecutor } from 'typeorm';
import { WITHOUT_TIMEOUTS } from './long-transaction';
import { isLockTimeout, isTaken, isUnknownColumn } from './postgres-errors';

/** Any number that no other program uses on this database; this one spells "migr". */
const MIGRATION_LOCK = 0x6d696772;

/** How often the lock is tried while another instance migrates. */
const POLL_MS = 250;
const PATIENCE = {
  /** Requests queue behind a migration that waits for a table, so it waits in turns of this length, with pauses of the same. */
  turnMs: 2_000,
  totalMs: 120_000,
};

/** Somebody else holds a lock for too long. The message is one sentence. */
export class MigrationLockError extends Error {}

/**
 * Brings the database to the newest migration while holding an advisory lock, so that any number of instances can start
 * at once: one migrates, the others wait. The lock belongs to a transaction of its own, so that nothing keeps it after the
 * process has died, not even a pooler.
 * @param dataSource with two connections and without request timeouts
 * @param report called with a sentence about what it waits for
 * @returns the names of the migrations that were run now
 * @throws MigrationLockError, UnsuitableDatabaseError
 */
export function migrate(
  dataSource: DataSource,
  report: (line: string) => void,
  patience = PATIENCE,
): Promise<string[]> {
  return dataSource.transaction(async (lock) => {
    await lock.query(WITHOUT_TIMEOUTS);
    await assertSuitable(lock);
    await assertNotNewer(lock);
    await lockMigrations(lock, report, patience);
    const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
    for (const migration of pending) {
      await runInTurns(migration, dataSource, lock, report, patience);
    }
    return pending.map(({ name }) => name);
  });
}

/**
 * Waits until nobody migrates this database, and keeps others from it until the transaction ends. Waits without a
 * statement: an index that is created concurrently waits for all statements that run.
 * @throws MigrationLockError
 */
export async function lockMigrations(
  transaction: EntityManager,
  report: (line: string) => void = () => undefined,
  patience = PATIENCE,
): Promise<void> {
  const deadline = performance.now() + patience.totalMs;
  let isReported = false;
  for (;;) {
    // Without a parameter: the last statement with one keeps its snapshot until the next.
    const sql = `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS locked`;
    const [row] = await transaction.query<{ locked: boolean }[]>(sql);
    if (row!.locked) {
      return;
    }
    const held = `the migration lock, held by ${await sessions(transaction, LOCK_HOLDERS)}`;
    if (performance.now() >= deadline) {
      throw new MigrationLockError(`Gave up waiting for ${held}.`);
    }
    if (!isReported) {
      report(`Waiting for ${held}.`);
      isReported = true;
    }
    await pause(POLL_MS);
  }
}

/** Runs a migration, again if it could not lock its tables in time. */
async function runInTurns(
  migration: Migration,
  dataSource: DataSource,
  lock: EntityManager,
  report: (line: string) => void,
  patience: typeof PATIENCE,
): Promise<void> {
  const deadline = performance.now() + patience.totalMs;
  for (;;) {
    let blockers = '';
    try {
      return await runOnce(migration, dataSource, patience.turnMs, async (pid) => {
        blockers = await sessions(lock, `SELECT unnest(pg_blocking_pids(${pid}))`);
      });
    } catch (error) {
      if (isTaken(error)) {
        throw new UnsuitableDatabaseError(
          `${(error as Error).message}, and the service needs a schema of its own`,
        );
      }
      if (!isLockTimeout(error)) {
        throw error;
      }
      const waiting = `${migration.name} waits for tables that are in use by ${blockers}`;
      if (performance.now() >= deadline) {
        throw new MigrationLockError(`Gave up: the migration ${waiting}.`);
      }
      report(`The migration ${waiting}. Requests pass; it will be tried again.`);
      await pause(patience.turnMs);
    }
  }
}

/** @param onSlow called with the process id of the session if its locks may not be granted in time */
async function runOnce(
  migration: Migration,
  dataSource: DataSource,
  lockTimeoutMs: number,
  onSlow: (pid: number) => Promise<void>,
): Promise<void> {
  if (migration.instance!.transaction === false) {
    // It does not lock out requests: its index is created concurrently, and waits as long as it takes.
    await new MigrationExecutor(dataSource).executeMigration(migration);
    return;
  }
  await dataSource.transaction(async (transaction) => {
    const [session] = await transaction.query<{ pid: number }[]>(
      `SELECT pg_backend_pid() AS pid, set_config('lock_timeout', '${lockTimeoutMs}', true)`,
    );
    const look = () => void onSlow(session!.pid).catch(() => undefined);
    const timer = setTimeout(look, lockTimeoutMs / 2);
    try {
      await new MigrationExecutor(dataSource, transaction.queryRunner).executeMigration(migration);
    } finally {
      clearTimeout(timer);
    }
  });
}

const LOCK_HOLDERS = `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database AND datname = current_database()
  WHERE locktype = 'advisory' AND classid = 0 AND objid = ${MIGRATION_LOCK} AND objsubid = 1 AND granted`;

/** @param pids selects process ids @returns for example `pid 4711 (pg_dump on 10.0.0.7, active)` */
async function sessions(reader: EntityManager, pids: string): Promise<string> {
  const rows = await reader.query<{ session: string }[]>(
    `SELECT format('pid %s (%s%s, %s)', pid, coalesce(nullif(application_name, ''), 'unknown program'),
       ' on ' || host(client_addr), state) AS session
     FROM pg_stat_activity WHERE pid IN (${pids})`,
  );
  return rows.map(({ session }) => session).join(', ') || 'a session that has just ended';
}

/** Runs pending migrations within the given transaction. */
export async function migrateWithin(transaction: EntityManager): Promise<void> {
  const executor = new MigrationExecutor(transaction.dataSource, transaction.queryRunner);
  for (const migration of await executor.getPendingMigrations()) {
    await executor.executeMigration(migration);
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
  try {
    const rows = await reader.query<{ name: string }[]>(`SELECT name FROM "${table}" ORDER BY id`);
    return rows.map(({ name }) => name);
  } catch (error) {
    if (isUnknownColumn(error)) {
      const owner = `its table ${table} belongs to another program`;
      throw new UnsuitableDatabaseError(`${owner}, and the service needs a schema of its own`);
    }
    throw error;
  }
}

/**
 * An older program would not know what a newer one has changed. A migration of before its own newest one is part of it by
 * now: migrations are merged once no database that lacks any of them is in use.
 * @throws UnsuitableDatabaseError
 */
export async function assertNotNewer(reader: EntityManager): Promise<void> {
  const known = reader.dataSource.migrations.map((migration) => migration.name ?? migration.constructor.name);
  const newest = Math.max(...known.map(timeOf));
  const unknown = (await doneMigrations(reader)).find(
    (name) => !known.includes(name) && !(timeOf(name) < newest),
  );
  if (unknown !== undefined) {
    throw new UnsuitableDatabaseError(`it has the migration ${unknown} of another, probably newer version`);
  }
}

/** As TypeORM orders migrations: their names end with a time in milliseconds. */
function timeOf(name: string): number {
  return Number(name.slice(-13));
}

const MIN_VERSION = 15;

/** The database cannot hold this store. The message is one sentence. */
export class UnsuitableDatabaseError extends Error {
  constructor(reason: string) {
    super(`The database cannot be used: ${reason}.`);
  }
}

const FACTS = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
    current_setting('server_encoding') AS encoding, current_setting('transaction_read_only') = 'on' AS "isReadOnly"`;

interface Facts {
  version: string;
  number: number;
  encoding: string;
  isReadOnly: boolean;
}

/** Checks what no session can set. @throws UnsuitableDatabaseError */
export async function assertSuitable(reader: EntityManager): Promise<void> {
  const [facts] = await reader.query<Facts[]>(FACTS);
  const { version, number, encoding, isReadOnly } = facts!;
  if (number < MIN_VERSION * 10_000) {
    throw new UnsuitableDatabaseError(`its version is ${version}, and ${MIN_VERSION} or newer is needed`);
  }
  if (encoding !== 'UTF8') {
    throw new UnsuitableDatabaseError(`its encoding is ${encoding}, not UTF8`);
  }
  if (isReadOnly) {
    throw new UnsuitableDatabaseError('it is read-only: a standby, or default_transaction_read_only is on');
  }
}
