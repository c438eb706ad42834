import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DataSource } from 'typeorm';
import { migrationStates } from '#libs/database';
import {
  RUNNING_INSTANCES,
  type RedisStatus,
  type RunningInstance,
  redisStatus,
  shareLimits,
} from '../../modules/quotas';
import { WEBHOOK_STATE, type WebhookState } from '../../modules/webhooks';
import { dataSourceOptions } from '../../runtime/data-source';
import { findEmbedded } from '../../runtime/open-database';
import { VERSION, readInstanceName } from '../../runtime/version';
import type { Settings } from '../../settings';

export interface TableStatus extends Record<string, unknown> {
  table: string;
  /** PostgreSQL's estimate; null if there is none yet. */
  rows: number | null;
  /** Including indexes. */
  bytes: number;
}

export interface InstanceStatus extends Record<string, unknown> {
  version: string | null;
  pid: number | null;
  host: string | null;
  since: Date;
  counts: RunningInstance['counts'];
  workers: number;
}

export interface DatabaseStatus {
  kind: 'embedded' | 'given';
  /** A folder, or `host:port/name`. */
  location: string;
  state: 'running' | 'stopped' | 'unreachable' | 'missing';
  /** How to reach a running embedded database by hand. */
  psql: string | null;
  /** Why it cannot be reached. */
  reason: string | null;
  postgres: string | null;
  bytes: number | null;
  connections: number | null;
  maxConnections: number | null;
  pendingMigrations: number | null;
}

export interface StoreStatus {
  version: string;
  database: DatabaseStatus;
  instances: InstanceStatus[];
  limits: { shared: boolean };
  redis: RedisStatus | null;
  /** Null if unknown. */
  webhooks: WebhookState | null;
  tables: TableStatus[];
}

const DATABASE = `SELECT current_setting('server_version') AS postgres, pg_database_size(current_database())::text AS bytes,
    (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
    current_setting('max_connections')::int AS "maxConnections"`;
const TABLES = `SELECT relname AS table, NULLIF(reltuples, -1)::float8 AS rows, pg_total_relation_size(oid)::float8 AS bytes
  FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
  ORDER BY pg_total_relation_size(oid) DESC, relname`;

/** The state of the service and its data. Starts and creates nothing. */
export async function storeStatus(settings: Settings): Promise<StoreStatus> {
  const { redisUrl } = settings;
  const [found, redis] = await Promise.all([
    lookAtDatabase(settings),
    redisUrl === undefined ? null : redisStatus(redisUrl),
  ]);
  return { version: VERSION, ...found, redis };
}

type Found = Pick<StoreStatus, 'database' | 'instances' | 'limits' | 'webhooks' | 'tables'>;

async function lookAtDatabase(settings: Settings): Promise<Found> {
  const { databaseUrl } = settings;
  if (databaseUrl !== undefined) {
    return lookInto(databaseUrl, blank('given', locationOf(databaseUrl)));
  }
  const embedded = findEmbedded(settings);
  const database = blank('embedded', embedded?.cluster ?? resolve(settings.dataDirectory));
  if (embedded?.url !== undefined) {
    return lookInto(embedded.url, { ...database, psql: embedded.psql });
  }
  return nothingIn(
    embedded
      ? { ...database, state: 'stopped', bytes: sizeOf(embedded.cluster) }
      : { ...database, state: 'missing' },
  );
}

async function lookInto(url: string, database: DatabaseStatus): Promise<Found> {
  const dataSource = new DataSource(dataSourceOptions(url, 1));
  try {
    await dataSource.initialize();
    const [row] = await dataSource.query<(DatabaseStatus & { bytes: string })[]>(DATABASE);
    const states = await migrationStates(dataSource);
    const pendingMigrations = states.filter(({ state }) => state === 'pending').length;
    const instances = await dataSource.query<RunningInstance[]>(RUNNING_INSTANCES);
    const [webhooks] = pendingMigrations === 0 ? await dataSource.query<WebhookState[]>(WEBHOOK_STATE) : [];
    return {
      database: {
        ...database,
        ...row!,
        state: 'running',
        postgres: row!.postgres!.split(' ')[0]!,
        bytes: Number(row!.bytes),
        pendingMigrations,
      },
      instances: instances.map(({ name, ...instance }) => ({ ...readInstanceName(name), ...instance })),
      limits: { shared: shareLimits(instances) },
      webhooks: webhooks ?? null,
      tables: await dataSource.query<TableStatus[]>(TABLES),
    };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return nothingIn({ ...database, state: 'unreachable', reason: message || (code ?? String(error)) });
  } finally {
    if (dataSource.isInitialized) {
      await dataSource.destroy();
    }
  }
}

function nothingIn(database: DatabaseStatus): Found {
  return { database, instances: [], limits: { shared: true }, webhooks: null, tables: [] };
}

function blank(kind: DatabaseStatus['kind'], location: string): DatabaseStatus {
  const unknown = { psql: null, reason: null, postgres: null, bytes: null, connections: null };
  return { kind, location, state: 'unreachable', ...unknown, maxConnections: null, pendingMigrations: null };
}

/** Null if this user may not look. Files that disappear in the meantime, because a server starts or stops, do not count. */
function sizeOf(folder: string): number | null {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0)
      .reduce((sum, size) => sum + size, 0);
  } catch {
    return null;
  }
}

/** `host:port/name`, without user and password. */
export function locationOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
