import { setTimeout as pause } from 'node:timers/promises';
import { type DataSource, type EntityManager, MigrationExecutor } from 'typeorm';
import { codeOf, isSerializationConflict } from './engine/postgres-errors';

const LOCK_TIMEOUT = '55P03';
const UNKNOWN_COLUMN = '42703';
const NAME_EXISTS_CODES = ['42P07', '42710', '42723'];

export const WITHOUT_TIMEOUTS = `SELECT set_config(name, '0', true) FROM pg_settings
  WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout')`;

/**
 * The key of the advisory lock that keeps two migrations from running at once. Any number works that no other program
 * uses on this database.
 */
const MIGRATION_LOCK = 0x6d696772;

/**
 * How many milliseconds each attempt of a migration waits for a lock on a table, and how many attempts there are.
 * Requests that use the table have to wait during an attempt, so each attempt is short.
 */
const PATIENCE = { lockMs: 2_000, attempts: 30 };

export class MigrationLockError extends Error {}

/**
 * The error if the service cannot use the database, for example because the server is too old. The message is one
 * sentence.
 */
export class UnsuitableDatabaseError extends Error {
  constructor(reason: string) {
    super(`The database cannot be used: ${reason}.`);
  }
}

/**
 * Brings the database to the newest migration. If several instances start at once, one instance migrates, and the other
 * instances wait.
 * @param dataSource a data source without the timeouts of requests, because a migration may take minutes
 * @param report called with a sentence if the migration has to wait for a lock
 * @returns the names of the migrations that this call has run
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
      // Throw any error other than a lock timeout or a deadlock, which is a serialization conflict. A deadlock is
      // possible, because requests lock the tables in another order than the migration.
      if (codeOf(error) !== LOCK_TIMEOUT && !isSerializationConflict(error)) {
        throw error;
      }
      const reason =
        'another instance is migrating the database, or a program such as pg_dump is using the table';
      if (attempt === attempts) {
        throw new MigrationLockError(`The migrations did not get a lock on a table: ${reason}.`);
      }
      if (attempt === 1) {
        report(`The migrations wait for a lock on a table: ${reason}.`);
      }
      await pause(lockMs);
    }
  }
}

/**
 * Runs the pending migrations within `transaction`.
 * @returns the names of the migrations that this call has run
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
    throw NAME_EXISTS_CODES.includes(codeOf(error))
      ? new UnsuitableDatabaseError(`${(error as Error).message}, ${NEEDS_OWN_SCHEMA}`)
      : error;
  }
}

export async function migrationStates(dataSource: DataSource) {
  const done = await doneMigrations(dataSource.manager);
  return namesOf(dataSource).map((migration) => {
    return { migration, state: done.includes(migration) ? ('done' as const) : ('pending' as const) };
  });
}

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

/** @throws UnsuitableDatabaseError if the database has a migration that this version of the service does not know */
export async function assertKnownMigrations(reader: EntityManager): Promise<void> {
  const known = namesOf(reader.dataSource);
  const unknown = (await doneMigrations(reader)).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UnsuitableDatabaseError(
      `another version of the service has run the migration ${unknown}, which this version does not know`,
    );
  }
}

function namesOf({ migrations }: DataSource): string[] {
  return migrations.map((migration) => migration.name ?? migration.constructor.name);
}

const COLLATION = `SELECT quote_ident(datname) AS name, datcollversion AS recorded,
    pg_database_collation_actual_version(oid) AS actual, lower('Ä') <> 'ä' AS "isAsciiOnly"
  FROM pg_database WHERE datname = current_database()`;

/**
 * Checks how the database compares text.
 * @returns `isAsciiOnly`: true if searches ignore the case of ASCII letters only. `problem`: tells the operator how to
 * rebuild indexes that were built with another version of the collation
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
