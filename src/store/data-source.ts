import { Logger } from '@nestjs/common';
import type { ClientBase } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import {
  PostgresNames,
  TRANSACTION_TIMEOUTS,
  collationOf,
  detectPooler,
  giveUpSilentConnection,
  migrate,
} from '#libs/database';
import { Schema1797000000000 } from '../migrations/1797000000000-schema';
import { MovableStore1797100000000 } from '../migrations/1797100000000-movable-store';
import { StoreIdentity1797200000000 } from '../migrations/1797200000000-store-identity';
import { Inventory1797300000000 } from '../migrations/1797300000000-inventory';
import { WebhookLimit1797400000000 } from '../migrations/1797400000000-webhook-limit';
import { timeIn, withoutStatementTimeout } from '../settings/database-url';

/**
 * Timeouts in milliseconds, for running a statement, and for getting a connection (a free one of the pool or a new
 * one). A request that exceeds one of these gets a 503.
 */
const STATEMENT_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Options of the connection pool for a command of the command line. A command waits longer for a connection than a
 * request, because a late result is better than a failure.
 */
export const COMMAND_POOL = { poolSize: 2, connectTimeoutMs: 20_000 };

export const MIGRATIONS = [
  Schema1797000000000,
  MovableStore1797100000000,
  StoreIdentity1797200000000,
  Inventory1797300000000,
  WebhookLimit1797400000000,
];

export function dataSourceOptions(
  url: string,
  { poolSize, connectTimeoutMs = CONNECT_TIMEOUT_MS }: { poolSize: number; connectTimeoutMs?: number },
): DataSourceOptions {
  const statementTimeoutMs = timeIn(url, 'statement_timeout') ?? STATEMENT_TIMEOUT_MS;
  // Close a connection on which the server has been silent for too long, because a server that hangs cannot enforce its own
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
 * Returns statements that configure a new connection. Statements are used because connection poolers refuse most of
 * these settings as parameters of the connection.
 */
function sessionSettings(statementTimeoutMs: number): string {
  const settings = {
    statement_timeout: statementTimeoutMs,
    ...TRANSACTION_TIMEOUTS,
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
export function administrationOptions(url: string, pool = COMMAND_POOL): DataSourceOptions {
  return { ...dataSourceOptions(url, pool), extra: { keepAlive: true } } as DataSourceOptions;
}

export async function withConnection<Result>(
  url: string,
  work: (dataSource: DataSource) => Promise<Result>,
  pool = COMMAND_POOL,
): Promise<Result> {
  const dataSource = await new DataSource(administrationOptions(url, pool)).initialize();
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

/** Runs all pending migrations of the database at `url`, and then connects with `options`. */
export async function connectAndMigrate(url: string, options: DataSourceOptions): Promise<DataSource> {
  const logger = new Logger('Database');
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
