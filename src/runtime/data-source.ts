import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import type { ClientBase } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { PostgresNames, collationOf, detectPooler, giveUpSilentConnection, migrate } from '#libs/database';
import { type FoundData, findData, startEmbeddedPostgres, reasonUnavailable } from '#libs/embedded-postgres';
import { StartError } from '#libs/messages';
import { Schema1797000000000 } from '../migrations/1797000000000-schema';
import { MovableStore1797100000000 } from '../migrations/1797100000000-movable-store';
import { StoreIdentity1797200000000 } from '../migrations/1797200000000-store-identity';
import { Inventory1797300000000 } from '../migrations/1797300000000-inventory';
import { WebhookLimit1797400000000 } from '../migrations/1797400000000-webhook-limit';
import { PETSTORE } from '../program';
import type { Settings } from '../settings';
import { timeIn, withoutStatementTimeout } from './database-url';

/**
 * Timeouts in milliseconds: for a statement, for a lock and for a connection. A request that exceeds one of these
 * timeouts gets a 503.
 */
const STATEMENT_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;

export const MIGRATIONS = [
  Schema1797000000000,
  MovableStore1797100000000,
  StoreIdentity1797200000000,
  Inventory1797300000000,
  WebhookLimit1797400000000,
];

export function dataSourceOptions(
  url: string,
  poolSize: number,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
): DataSourceOptions {
  const statementTimeoutMs = timeIn(url, 'statement_timeout') ?? STATEMENT_TIMEOUT_MS;
  // Close a connection if the server is silent on it for too long, because a server that hangs cannot enforce its own
  // timeouts.
  const watchSilence = giveUpSilentConnection(statementTimeoutMs + 1_000);
  return {
    type: 'postgres',
    url: withoutStatementTimeout(url),
    migrations: MIGRATIONS,
    migrationsTableName: 'schema_migrations',
    namingStrategy: new PostgresNames(),
    synchronize: false,
    // TypeORM's logger `debug` prints nothing by default. Other loggers would print a failed migration to standard
    // output.
    logger: 'debug',
    poolSize,
    connectTimeoutMS: (timeIn(url, 'connect_timeout') ?? 0) * 1_000 || connectTimeoutMs,
    applicationName: 'petstore',
    extra: {
      onConnect: async (connection: ClientBase) => {
        watchSilence(connection);
        await Promise.all([connection.query(sessionSettings(statementTimeoutMs)), detectPooler(connection)]);
      },
      keepAlive: true,
      pipeline: true,
    },
  };
}

/**
 * Returns the options for a command of the command line. Such a command waits long for a connection, because a late
 * result is better than a failure.
 */
export function cliOptions(url: string, connectTimeoutMs = 20_000): DataSourceOptions {
  return dataSourceOptions(url, 2, connectTimeoutMs);
}

/**
 * Returns statements that configure a new connection. Statements are used because connection poolers refuse most of
 * these settings as parameters of the connection.
 */
function sessionSettings(statementTimeoutMs: number): string {
  const settings = {
    statement_timeout: statementTimeoutMs,
    // End the transaction of a process that hangs, because other writes wait for its locks.
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    // Make every statement use an index. Without these settings, PostgreSQL could plan a statement while the table is
    // small, and would later scan the whole table with the same plan.
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    enable_sort: 'off',
    jit: 'off',
    // Use one plan for all values of a prepared statement, because planning takes longer than reading.
    plan_cache_mode: 'force_generic_plan',
    // Set the values on which the code relies, because the database or the role may have other defaults.
    DateStyle: 'ISO',
    TimeZone: 'UTC',
    default_transaction_isolation: `'read committed'`,
  };
  return Object.entries(settings)
    .map(([name, value]) => `SET ${name} = ${value}`)
    .join('; ');
}

/** Returns the options for migrations and similar work, without a statement timeout. */
export function administrationOptions(url: string, connectTimeoutMs?: number): DataSourceOptions {
  return { ...cliOptions(url, connectTimeoutMs), extra: { keepAlive: true } } as DataSourceOptions;
}

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

/**
 * Runs all pending migrations on a separate connection.
 * @param report receives a line of text if another process is migrating
 * @returns the names of the migrations that were run
 */
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

/** An open database. `lost` resolves with an error if an embedded server has ended and cannot be restarted. */
export type OpenDatabase = Awaited<ReturnType<typeof openDatabase>>;

export function findEmbedded({ dataDirectory }: Pick<Settings, 'dataDirectory'>): FoundData | undefined {
  return findData(dataDirectory, EMBEDDED_NAME);
}

export function missingDatabase({ dataDirectory }: Pick<Settings, 'dataDirectory'>): string {
  return `There is no database in ${resolve(dataDirectory)} (DATA_DIR). The service creates one: ${PETSTORE} serve. Or set DATA_DIR or DATABASE_URL to an existing one.`;
}

/**
 * Opens the database of `DATABASE_URL`, or else the embedded database in `DATA_DIR`.
 * @param forServer true for the service, which creates the embedded database if it is missing; false for a command,
 * which may connect to the PostgreSQL server that a running service has started
 * @param signal aborts the wait for a database that is recovering from a crash
 */
export async function openDatabase(
  settings: Pick<Settings, 'databaseUrl' | 'dataDirectory'>,
  log: (line: string) => void,
  forServer = false,
  signal?: AbortSignal,
) {
  const { databaseUrl } = settings;
  const url = databaseUrl ?? (cluster.isWorker ? findEmbedded(settings)?.url : undefined);
  if (url !== undefined) {
    const isEmbedded = databaseUrl === undefined;
    return { url, isEmbedded, lost: new Promise<never>(() => undefined), stop: () => Promise.resolve() };
  }
  const reason = reasonUnavailable();
  if (reason !== undefined) {
    throw new StartError(
      `DATABASE_URL is not set, and the embedded PostgreSQL ${reason}. ` +
        'Set DATABASE_URL to a database of your own: postgres://user:password@host:5432/name.',
    );
  }
  if (!forServer && findEmbedded(settings) === undefined) {
    throw new StartError(missingDatabase(settings));
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
