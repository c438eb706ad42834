import { resolve } from 'node:path';
import { Command } from 'nest-commander';
import { migrationStates } from '#libs/database';
import { redisStatus } from '../modules/quotas';
import { findEmbedded, withConnection } from '../runtime/data-source';
import { locationOf } from '../runtime/database-url';
import { PETSTORE, VERSION } from '../runtime/messages';
import { type InstanceStatus, instancesOn } from '../runtime/presence';
import { type Settings, readSettings } from '../settings';
import { ResultCommand } from './command/command';
import { CommandFailure } from './command/failure';
import { type OutputOptions, inUnits, print, printMany, printOne } from './command/output';

@Command({
  name: 'status',
  description: 'show the state of the service and its database; starts and changes nothing',
})
export class StatusCommand extends ResultCommand {
  protected override readonly examples = ['status', 'status --json'];

  /** Exits with 1 after the output if there is a problem, for scripts. */
  protected async execute(_inputs: [], options: OutputOptions): Promise<void> {
    const status = await inspectStore(readSettings(process.env));
    const problems = problemsOf(status);
    if (options.json) {
      printOne({ ...status, problems }, options);
    } else {
      this.show(status, options);
    }
    if (problems.length > 0) {
      throw new CommandFailure(problems.join(' '));
    }
  }

  private show({ version, database, instances, redis }: StoreStatus, options: OutputOptions): void {
    const { bytes, ...known } = database;
    const fields = { version, ...known, size: bytes && inUnits(bytes), redis: redis && inWords(redis) };
    printOne(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)), options);
    print('');
    // Operators wait for this sentence before they move a store, so it must not be a guess.
    const none = instances === null ? NOT_KNOWN : 'No instance of the service runs.';
    const rows = (instances ?? []).map(({ secondsAgo, ...instance }) => ({
      ...instance,
      lastSeen: new Date(Date.now() - secondsAgo * 1_000),
    }));
    printMany(rows, options, none);
  }
}

const NOT_KNOWN = 'Whether an instance of the service runs is unknown.';

function inWords({ answers, version, bytes }: NonNullable<StoreStatus['redis']>): string {
  const details = [version, bytes === null ? null : inUnits(bytes)].filter((one) => one !== null);
  return answers ? details.join(', ') || 'answers' : 'does not answer';
}

/** Problems that need action, one sentence each. */
function problemsOf({ database, instances, redis }: StoreStatus): string[] {
  const { state, location, reason, pendingMigrations } = database;
  if (state === 'missing') {
    return [`There is no database in ${location}. The service creates one: ${PETSTORE} serve.`];
  }
  if (state === 'unreachable') {
    return [`The database cannot be reached: ${reason}.`];
  }
  return [
    ...(instances?.length === 0 ? ['No instance of the service runs on this database.'] : []),
    ...(instances ?? []).flatMap(problemOf),
    ...(pendingMigrations
      ? [`Migrations are missing. Apply them to see the instances: ${PETSTORE} db migrate.`]
      : []),
    ...(redis?.answers === false ? [`Redis does not answer: ${redis.reason}.`] : []),
  ];
}

function problemOf({ pid, host, state, degraded, secondsAgo }: InstanceStatus): string[] {
  const name = `process ${pid} on ${host}`;
  if (state === 'unknown') {
    return [`Whether ${name} still runs is unknown: its last sign was ${secondsAgo} s ago.`];
  }
  return degraded ? [`${name} counts limits alone: Redis is unavailable to it.`] : [];
}

/** What is not known of a database is null. */
const UNKNOWN = {
  state: 'unreachable' as 'running' | 'stopped' | 'unreachable' | 'missing',
  /** How to reach a running embedded database by hand. */
  psql: null as string | null,
  /** Why it cannot be reached. */
  reason: null as string | null,
  postgres: null as string | null,
  bytes: null as number | null,
  connections: null as number | null,
  maxConnections: null as number | null,
  pendingMigrations: null as number | null,
};

type DatabaseStatus = typeof UNKNOWN & {
  kind: 'embedded' | 'given';
  /** A folder, or `host:port/name`. */
  location: string;
};

/** SQL, because PostgreSQL's own tables and functions have no entities. */
const DATABASE = `SELECT split_part(current_setting('server_version'), ' ', 1) AS postgres,
    pg_database_size(current_database()) AS bytes,
    (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
    current_setting('max_connections')::int AS "maxConnections"`;

/** The state of the service and its data. Starts and creates nothing. */
async function inspectStore(settings: Settings) {
  const { redisUrl } = settings;
  const [found, redis] = await Promise.all([
    inspectDatabase(settings),
    redisUrl === undefined ? null : redisStatus(redisUrl),
  ]);
  return { version: VERSION, ...found, redis };
}

type StoreStatus = Awaited<ReturnType<typeof inspectStore>>;

/** A server that does not run has no instances; of any other that cannot be looked into, they are not known. */
async function inspectDatabase(
  settings: Settings,
): Promise<{ database: DatabaseStatus; instances: InstanceStatus[] | null }> {
  const { databaseUrl, dataDirectory } = settings;
  const embedded = databaseUrl === undefined ? findEmbedded(settings) : undefined;
  const url = databaseUrl ?? embedded?.url;
  const database: DatabaseStatus =
    databaseUrl === undefined
      ? { kind: 'embedded', location: embedded?.cluster ?? resolve(dataDirectory), ...UNKNOWN }
      : { kind: 'given', location: locationOf(databaseUrl), ...UNKNOWN };
  if (url === undefined) {
    return { database: { ...database, state: 'missing' }, instances: null };
  }
  try {
    return await withConnection(url, async (dataSource) => {
      const [row] = await dataSource.query<Partial<DatabaseStatus>[]>(DATABASE);
      const states = await migrationStates(dataSource);
      const pendingMigrations = states.filter(({ state }) => state === 'pending').length;
      const psql = embedded?.psql ?? null;
      return {
        database: { ...database, ...row, state: 'running', psql, pendingMigrations },
        instances: pendingMigrations === 0 ? await instancesOn(dataSource) : null,
      };
    });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    // Nobody listens at its socket.
    if (embedded !== undefined && (code === 'ENOENT' || code === 'ECONNREFUSED')) {
      return { database: { ...database, state: 'stopped' }, instances: [] };
    }
    return { database: { ...database, reason: message || (code ?? String(error)) }, instances: null };
  }
}
