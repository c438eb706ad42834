import { setTimeout as pause } from 'node:timers/promises';
import { type DataSource, type EntityManager, MigrationExecutor } from 'typeorm';
import { codeOf, isSerializationConflict } from './engine/postgres-errors';

/** PostgreSQL's codes; the taken name is that of a table, an index or a function. */
const LOCK_TIMEOUT = '55P03';
const UNKNOWN_COLUMN = '42703';
const TAKEN = ['42P07', '42710', '42723'];

/** Selected by name, because older versions of PostgreSQL lack some of them. Set for this transaction only. */
export const WITHOUT_TIMEOUTS = `SELECT set_config(name, '0', true) FROM pg_settings
  WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout')`;

/** Any number that no other program uses on this database; this one spells "migr". */
const MIGRATION_LOCK = 0x6d696772;

/** Requests queue behind a migration that waits for a table: it gives up soon, and tries again after a pause of the same length. */
const PATIENCE = { lockMs: 2_000, attempts: 30 };

/** Somebody else holds a lock for too long. The message is one sentence. */
export class MigrationLockError extends Error {}

/** The database cannot hold this store. The message is one sentence. */
export class UnsuitableDatabaseError extends Error {
  constructor(reason: string) {
    super(`The database cannot be used: ${reason}.`);
  }
}

/**
 * Brings the database to the newest migration. Any number of instances can start at once: one migrates, the others wait.
 * @param dataSource without the timeouts of requests
 * @param report called with a sentence if it has to wait
 * @returns the names of the migrations that were run now
 * @throws MigrationLockError, UnsuitableDatabaseError
 */
export async function migrate(
  dataSource: DataSource,
  report: (line: string) => void,
  { lockMs, attempts } = PATIENCE,
): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await dataSource.transaction((transaction) => migrateWithin(transaction, lockMs));
    } catch (error) {
      // Requests lock tables in orders of their own, so the migration may be the one that a deadlock fails.
      if (codeOf(error) !== LOCK_TIMEOUT && !isSerializationConflict(error)) {
        throw error;
      }
      const reason = 'another instance migrates, or a program such as pg_dump uses a table';
      if (attempt === attempts) {
        throw new MigrationLockError(`Gave up waiting for a lock of the migrations: ${reason}.`);
      }
      if (attempt === 1) {
        report(`Waiting for a lock of the migrations: ${reason}.`);
      }
      await pause(lockMs);
    }
  }
}

/**
 * Runs pending migrations within the given transaction, which holds an advisory lock until its end.
 * @returns their names
 */
export async function migrateWithin(transaction: EntityManager, lockMs = PATIENCE.lockMs): Promise<string[]> {
  await transaction.query(WITHOUT_TIMEOUTS);
  await transaction.query(`SET LOCAL lock_timeout = ${lockMs}`);
  await assertSuitable(transaction);
  await transaction.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
  await assertKnownMigrations(transaction);
  try {
    const executor = new MigrationExecutor(transaction.dataSource, transaction.queryRunner);
    return (await executor.executePendingMigrations()).map(({ name }) => name);
  } catch (error) {
    throw TAKEN.includes(codeOf(error))
      ? new UnsuitableDatabaseError(`${(error as Error).message}, ${NEEDS_OWN_SCHEMA}`)
      : error;
  }
}

/** Lists the data source's migrations and whether they have run. Changes nothing. @throws what the driver throws */
export async function migrationStates(dataSource: DataSource) {
  const done = await doneMigrations(dataSource.manager);
  return namesOf(dataSource).map((migration) => {
    return { migration, state: done.includes(migration) ? ('done' as const) : ('pending' as const) };
  });
}

/** The names of the migrations that have run. Changes nothing. */
export async function doneMigrations({ dataSource, queryRunner }: EntityManager): Promise<string[]> {
  try {
    const done = await new MigrationExecutor(dataSource, queryRunner).getExecutedMigrations();
    return done.map(({ name }) => name);
  } catch (error) {
    if (codeOf(error) === UNKNOWN_COLUMN) {
      const owner = `its table ${dataSource.options.migrationsTableName} belongs to another program`;
      throw new UnsuitableDatabaseError(`${owner}, ${NEEDS_OWN_SCHEMA}`);
    }
    throw error;
  }
}

const NEEDS_OWN_SCHEMA = 'and the service needs a schema of its own';

/**
 * A program does not know what a migration of another version has changed.
 * @throws UnsuitableDatabaseError
 */
export async function assertKnownMigrations(reader: EntityManager): Promise<void> {
  const known = namesOf(reader.dataSource);
  const unknown = (await doneMigrations(reader)).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UnsuitableDatabaseError(`it has the migration ${unknown} of another version of the service`);
  }
}

function namesOf({ migrations }: DataSource): string[] {
  return migrations.map((migration) => migration.name ?? migration.constructor.name);
}

/** Whether `lower` knows more than ASCII depends on the locale of the database. */
const COLLATION = `SELECT quote_ident(datname) AS name, datcollversion AS recorded,
    pg_database_collation_actual_version(oid) AS actual, lower('Ä') <> 'ä' AS "isAsciiOnly"
  FROM pg_database WHERE datname = current_database()`;

/**
 * How the database compares texts. Changes nothing.
 * @returns whether it ignores the case of ASCII letters only; and, if its indexes may be those of another version of its
 * collation, a sentence that says what to do
 */
export async function collationOf(
  dataSource: DataSource,
): Promise<{ isAsciiOnly: boolean; problem: string | undefined }> {
  const [row] = await dataSource.query<Record<string, string | null>[]>(COLLATION);
  const { name, recorded, actual, isAsciiOnly } = row!;
  const problem =
    `The database was made with version ${recorded} of its collation, and the system has ${actual ?? 'none'}, so searches by name may ` +
    `miss rows. Run in psql: REINDEX DATABASE ${name}; ALTER DATABASE ${name} REFRESH COLLATION VERSION;`;
  const isCurrent = recorded === null || recorded === actual;
  return { isAsciiOnly: Boolean(isAsciiOnly), problem: isCurrent ? undefined : problem };
}

const MIN_VERSION = 15;

/** Checks what no session can set. @throws UnsuitableDatabaseError */
async function assertSuitable(reader: EntityManager): Promise<void> {
  const setting = async (name: string): Promise<string> => {
    const [row] = await reader.query<{ value: string }[]>('SELECT current_setting($1) AS value', [name]);
    return row!.value;
  };
  if (Number(await setting('server_version_num')) < MIN_VERSION * 10_000) {
    const version = await setting('server_version');
    throw new UnsuitableDatabaseError(`its version is ${version}, and ${MIN_VERSION} or newer is needed`);
  }
  const encoding = await setting('server_encoding');
  if (encoding !== 'UTF8') {
    throw new UnsuitableDatabaseError(`its encoding is ${encoding}, not UTF8`);
  }
  if ((await setting('transaction_read_only')) === 'on') {
    throw new UnsuitableDatabaseError('it is read-only: a standby, or default_transaction_read_only is on');
  }
}
