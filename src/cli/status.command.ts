import { resolve } from 'node:path';
import { Command } from 'nest-commander';
import type { DataSource } from 'typeorm';
import { BaseCommand, type OutputOptions, formatBytes, print, printMany, printOne } from '#libs/command-line';
import { collationOf, migrationStates } from '#libs/database';
import { OperatorError } from '#libs/messages';
import { readSettings } from '../all-settings';
import { redisStatus } from '../modules/quotas';
import { PETSTORE, VERSION } from '../program';
import { locationOf } from '../settings/database-url';
import type { Settings } from '../settings/settings';
import { withConnection } from '../store/data-source';
import { findEmbedded, missingDatabase } from '../store/open-database';
import { type Instance, instancesOn } from '../store/presence';

type RedisStatus = Awaited<ReturnType<typeof redisStatus>>;

@Command({
  name: 'status',
  description: 'show the state of the service and its database; starts and changes nothing',
})
export class StatusCommand extends BaseCommand {
  readonly examples = ['status', 'status --json'];

  /**
   * Prints the status. If there is a problem, the command ends with exit code 1, so that scripts notice the problem.
   */
  protected async execute(options: OutputOptions): Promise<void> {
    const settings = readSettings(process.env);
    const { redisUrl } = settings;
    const [store, redis] = await Promise.all([
      inspectStore(settings),
      redisUrl === undefined ? null : redisStatus(redisUrl),
    ]);
    const ofRedis = redis?.answers === false ? [`Redis does not answer: ${redis.reason}.`] : [];
    const problems = [...store.problems, ...ofRedis];
    if (options.json) {
      printOne({ version: VERSION, ...store, redis, problems }, options);
    } else {
      show(store, redis);
    }
    if (problems.length > 0) {
      throw new OperatorError(problems.join(' '));
    }
  }
}

function show({ database, instances }: StoreStatus, redis: RedisStatus | null): void {
  const { bytes, ...known } = database;
  const size = bytes && formatBytes(bytes);
  const fields = { version: VERSION, ...known, size, redis: redis && inWords(redis) };
  printOne(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)), {});
  print('');
  const rows = (instances ?? []).map(({ secondsAgo, ...instance }) => ({
    ...instance,
    lastSeen: new Date(Date.now() - secondsAgo * 1_000),
  }));
  // Print this sentence only if surely no instance runs. Operators wait for the sentence before they move the data of
  // the service, and no instance may use the data during the move.
  const none = 'No instance of the service runs.';
  printMany(rows, {}, instances === null ? 'It is unknown whether an instance of the service runs.' : none);
}

function inWords({ answers, version, bytes }: RedisStatus): string {
  const details = [version, bytes === null ? null : formatBytes(bytes)].filter((one) => one !== null);
  return answers ? details.join(', ') || 'answers' : 'does not answer';
}

const UNKNOWN = {
  state: 'unreachable',
  psql: null as string | null,
  reason: null as string | null,
  postgres: null,
  bytes: null as number | null,
  connections: null,
  maxConnections: null,
  pendingMigrations: null as number | null,
};

interface StoreStatus {
  database: typeof UNKNOWN & { kind: 'embedded' | 'given'; location: string };
  instances: Instance[] | null;
  problems: string[];
}

async function inspectStore(settings: Settings): Promise<StoreStatus> {
  const { databaseUrl, dataDirectory } = settings;
  const embedded = databaseUrl === undefined ? findEmbedded(settings) : undefined;
  const url = databaseUrl ?? embedded?.url;
  const database: StoreStatus['database'] =
    databaseUrl === undefined
      ? { kind: 'embedded', location: embedded?.dataFiles ?? resolve(dataDirectory), ...UNKNOWN }
      : { kind: 'given', location: locationOf(databaseUrl), ...UNKNOWN };
  if (url === undefined) {
    const problems = [missingDatabase(settings)];
    return { database: { ...database, state: 'missing' }, instances: null, problems };
  }
  try {
    const running = { ...database, state: 'running', psql: embedded?.psql ?? null };
    return await withConnection(url, (dataSource) => inspectRunning(running, dataSource));
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    // A connection that fails with one of these error codes means that the server of the embedded database is not
    // running.
    if (embedded !== undefined && (code === 'ENOENT' || code === 'ECONNREFUSED')) {
      return { database: { ...database, state: 'stopped' }, instances: [], problems: [NONE_RUNS] };
    }
    const reason = message || (code ?? String(error));
    const problems = [
      `The database of ${embedded ? 'DATA_DIR' : 'DATABASE_URL'} cannot be reached: ${reason}.`,
    ];
    return { database: { ...database, reason }, instances: null, problems };
  }
}

const NONE_RUNS = `No instance of the service runs on this database. Start one: ${PETSTORE} serve. Or set DATA_DIR or DATABASE_URL to another database.`;

const DATABASE = `SELECT split_part(current_setting('server_version'), ' ', 1) AS postgres,
    pg_database_size(current_database()) AS bytes,
    (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
    current_setting('max_connections')::int AS "maxConnections"`;

async function inspectRunning(
  running: StoreStatus['database'],
  dataSource: DataSource,
): Promise<StoreStatus> {
  const [row] = await dataSource.query<object[]>(DATABASE);
  const states = await migrationStates(dataSource);
  const pendingMigrations = states.filter(({ state }) => state === 'pending').length;
  const database = { ...running, ...row, pendingMigrations };
  const { problem: ofCollation } = await collationOf(dataSource);
  const problems = ofCollation === undefined ? [] : [ofCollation];
  if (pendingMigrations > 0) {
    problems.push(`Migrations are missing. Apply them to see the instances: ${PETSTORE} db migrate.`);
    return { database, instances: null, problems };
  }
  const instances = await instancesOn(dataSource);
  problems.push(...(instances.length === 0 ? [NONE_RUNS] : instances.flatMap(problemsOfInstance)));
  return { database, instances, problems };
}

function problemsOfInstance({ pid, host, state, degraded, secondsAgo }: Instance): string[] {
  const name = `process ${pid} on ${host}`;
  if (state === 'unknown') {
    return [`It is unknown whether ${name} still runs: the process last reported ${secondsAgo} s ago.`];
  }
  return degraded ? [`Redis is unavailable to ${name}, which therefore counts the limits alone.`] : [];
}
