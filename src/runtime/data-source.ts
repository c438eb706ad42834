import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import type { ClientBase } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { collationOf, detectPooler, giveUpSilentConnection, migrate } from '#libs/database';
import { type FoundData, findData, startEmbeddedPostgres, unavailability } from '#libs/embedded-postgres';
import { Schema1797000000000 } from '../migrations/1797000000000-schema';
import { MovableStore1797100000000 } from '../migrations/1797100000000-movable-store';
import { StoreIdentity1797200000000 } from '../migrations/1797200000000-store-identity';
import type { Settings } from '../settings';
import { timeIn, withoutStatementTimeout } from './database-url';
import { StartError } from './failures';
import { PETSTORE } from './messages';

/** How long a statement may run, and a request may wait for a connection, before the response is 503. */
const STATEMENT_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;

/** In the order of their names, which end with their times; a test compares them with the folder. */
export const MIGRATIONS = [Schema1797000000000, MovableStore1797100000000, StoreIdentity1797200000000];

export function dataSourceOptions(
  url: string,
  poolSize: number,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
): DataSourceOptions {
  const statementTimeoutMs = timeIn(url, 'statement_timeout') ?? STATEMENT_TIMEOUT_MS;
  // A server that no longer responds does not enforce its own timeouts.
  const watchSilence = giveUpSilentConnection(statementTimeoutMs + 1_000);
  return {
    type: 'postgres',
    url: withoutStatementTimeout(url),
    migrations: MIGRATIONS,
    migrationsTableName: 'schema_migrations',
    synchronize: false,
    // Silent; by default a failed migration is written to standard output, whatever `logging` says.
    logger: 'debug',
    poolSize,
    connectTimeoutMS: (timeIn(url, 'connect_timeout') ?? 0) * 1_000 || connectTimeoutMs,
    applicationName: 'petstore',
    extra: {
      onConnect: async (client: ClientBase) => {
        watchSilence(client);
        await Promise.all([client.query(sessionSettings(statementTimeoutMs)), detectPooler(client)]);
      },
      keepAlive: true,
      // Statements sent in sequence do not wait for each other's results.
      pipeline: true,
    },
  };
}

/** For a command: one connection for a transaction, and one for other queries. It had better be late than fail. */
export function commandOptions(url: string, connectTimeoutMs = 20_000): DataSourceOptions {
  return dataSourceOptions(url, 2, connectTimeoutMs);
}

/**
 * For each connection of a pool. Statements, because a pooler refuses most of them as parameters of a connection. One in
 * transaction mode loses them: what keeps writes safe is set in their transactions too, and the rest makes reads faster.
 */
function sessionSettings(statementTimeoutMs: number): string {
  const settings = {
    statement_timeout: statementTimeoutMs,
    // A process halted in a transaction must not keep its locks: all writes need one of them.
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    // A row that stays locked fails the commands that need it, before their time in the queue is over.
    lock_timeout: LOCK_TIMEOUT_MS,
    // Makes every statement of a request use an index, and in its order. A plan made while a table was small, full of dead
    // rows or not analysed yet would later scan the whole table, or sort all of it for a page.
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    enable_sort: 'off',
    jit: 'off',
    // One plan for all values of a prepared statement, because planning a page takes longer than reading it.
    plan_cache_mode: 'force_generic_plan',
    // What the code expects, however the database or the role is configured.
    DateStyle: 'ISO',
    TimeZone: 'UTC',
    default_transaction_isolation: `'read committed'`,
  };
  return Object.entries(settings)
    .map(([name, value]) => `SET ${name} = ${value}`)
    .join('; ');
}

/** For work on the database itself, which may take minutes: no entities, and none of the settings of requests. */
export function administrationOptions(url: string, connectTimeoutMs?: number): DataSourceOptions {
  return { ...commandOptions(url, connectTimeoutMs), extra: { keepAlive: true } } as DataSourceOptions;
}

/** Connects to a database for work on its tables as they are, which may take minutes. */
export async function withConnection<Result>(
  url: string,
  work: (dataSource: DataSource) => Promise<Result>,
  connectTimeoutMs?: number,
): Promise<Result> {
  const dataSource = await new DataSource(administrationOptions(url, connectTimeoutMs)).initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** On connections of its own. @param report called with a line about what it waits for */
export function migrateToNewest(url: string, report: (line: string) => void): Promise<string[]> {
  return withConnection(url, (dataSource) => migrate(dataSource, report));
}

export async function connectAndMigrate(options: DataSourceOptions): Promise<DataSource> {
  const logger = new Logger('Database');
  const { url } = options as { url: string };
  const done = await migrateToNewest(url, (line) => logger.log(line));
  if (done.length > 0) {
    logger.log(`Migrated: ${done.join(', ')}.`);
  }
  const dataSource = await new DataSource(options).initialize();
  const { isAsciiOnly, problem } = await collationOf(dataSource);
  if (isAsciiOnly) {
    logger.warn(
      'With the LC_CTYPE of the database, a search by name ignores the case of ASCII letters only.',
    );
  }
  if (problem !== undefined) {
    logger.warn(problem);
  }
  return dataSource;
}

const EMBEDDED_NAME = 'petstore';

/** That of `DATABASE_URL` is never lost, and not stopped. */
export type OpenDatabase = Awaited<ReturnType<typeof openDatabase>>;

/** Finds the embedded database in `DATA_DIR` without changing anything; undefined if there is none. */
export function findEmbedded({ dataDirectory }: Pick<Settings, 'dataDirectory'>): FoundData | undefined {
  return findData(dataDirectory, EMBEDDED_NAME);
}

/**
 * Opens the database of `DATABASE_URL`, or the embedded one in `DATA_DIR`, starting it if necessary.
 * @param signal ends the wait for a database that recovers
 * @param forServer creates the embedded one if there is none, and has it for itself; a command may share that of a server
 */
export async function openDatabase(
  settings: Pick<Settings, 'databaseUrl' | 'dataDirectory'>,
  log: (line: string) => void,
  forServer = false,
  signal?: AbortSignal,
) {
  const { databaseUrl } = settings;
  // The first process has started the embedded one for its workers.
  const url = databaseUrl ?? (cluster.isWorker ? findEmbedded(settings)?.url : undefined);
  if (url !== undefined) {
    const isEmbedded = databaseUrl === undefined;
    return { url, isEmbedded, lost: new Promise<never>(() => undefined), stop: () => Promise.resolve() };
  }
  const reason = unavailability();
  if (reason !== undefined) {
    throw new StartError(
      `DATABASE_URL is not set, and the embedded PostgreSQL ${reason}. ` +
        'Set DATABASE_URL to a database of your own: postgres://user:password@host:5432/name.',
    );
  }
  if (!forServer && findEmbedded(settings) === undefined) {
    throw new StartError(
      `There is no database in ${settings.dataDirectory} (DATA_DIR). The service creates one: ${PETSTORE} serve. ` +
        'Or set DATA_DIR or DATABASE_URL to an existing one.',
    );
  }
  const postgres = await startEmbeddedPostgres({
    dataDirectory: resolve(settings.dataDirectory),
    database: EMBEDDED_NAME,
    log,
    share: !forServer,
    signal,
  });
  return { ...postgres, isEmbedded: true };
}
