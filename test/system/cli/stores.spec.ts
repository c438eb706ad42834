import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { VERSION } from '../../../src/program';
import { complaint, petstore, RunningCommand } from '../../support/command-line';
import { embeddedUrl } from '../../support/embedded-servers';
import { until } from '../../support/eventually';
import { useRedis } from '../../support/redis-server';
import { ServiceProcesses, type ServiceProcess } from '../../support/service-process';
import { type TestDatabase, useDatabases, insertUnlimitedKey } from '../../support/test-database';
import { lockWaits, whileHeld } from '../../support/disturbances';
import { commandJson, runCommand } from './support/use-command-line';

const processes = new ServiceProcesses();
const path = (...names: string[]) => processes.folder.path(...names);
const redis = useRedis();
afterAll(() => processes.clear());
const database = useDatabases();

const run = (command: string, { url }: TestDatabase) => runCommand(command.split(' '), { DATABASE_URL: url });
const json = <Printed>(command: string, { url }: TestDatabase) =>
  commandJson<Printed>(command.split(' '), { DATABASE_URL: url });

async function count(table: string, { pool }: TestDatabase): Promise<number> {
  return (await pool.query(`SELECT FROM ${table}`)).rowCount!;
}

it('a database that was never migrated is shown and refused without a change, and migrated once', async () => {
  const empty = await database('template1');
  const states = await json<{ migration: string; state: string }[]>('db status', empty);
  expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['pending']));
  expect((await run('db status', empty)).stdout).toMatch(/^migration +state\n\S+ +pending\n/);
  for (const command of ['clients list', 'db seed']) {
    expect(await run(command, empty)).toEqual(complaint(1, /not up to date\. Run: .* db migrate/));
  }
  expect(await count(`pg_tables WHERE schemaname = 'public'`, empty)).toBe(0);

  const { migrations } = await json<{ migrations: string[] }>('db migrate', empty);
  expect(migrations).toEqual(states.map(({ migration }) => migration));
  expect(await json('db migrate', empty)).toEqual({ migrations: [] });
  expect((await run('db migrate', empty)).stdout).toBe('The database is up to date.\n');
  expect(await json('db status', empty)).toEqual(states.map((one) => ({ ...one, state: 'done' })));
});

it('db seed fills an empty store, issues a key, and does nothing the second time', async () => {
  const migrated = await database();
  const seeded = await json<{ categories: number; pets: number; key: string }>('db seed', migrated);
  expect(seeded.key).toMatch(/^psk_live_\w{36}$/);
  expect(await json('db seed', migrated)).toEqual({ categories: 0, pets: 0, key: null });
  expect((await run('db seed', migrated)).stdout).toMatch(/another key: .* keys issue demo/);
  expect(await count('pets', migrated)).toBe(seeded.pets);
  expect(await count('categories', migrated)).toBe(seeded.categories);
  expect(await count('clients', migrated)).toBe(1);
});

it('db renew-identity makes another store of it, after a confirmation, and a copy is another store by itself', async () => {
  const [store, target] = [await database(), await database('template1')];
  const identity = async ({ pool }: TestDatabase) =>
    (await pool.query<{ id: string }>('SELECT id FROM store_identity')).rows.map(({ id }) => id);
  const before = await identity(store);
  expect(await run('db renew-identity', store)).toMatchObject({ code: 2, stdout: '' });
  expect(await identity(store)).toEqual(before);
  const { id } = await json<{ id: string }>('db renew-identity --yes', store);
  expect([await identity(store), before]).toEqual([[id], [expect.not.stringContaining(id)]]);
  await run(`db copy --to ${target.url}`, store);
  expect(await identity(target)).toEqual([expect.not.stringContaining(id)]);
  expect(await identity(store)).toEqual([id]);
});

const secret = 'not-to-be-seen';

function onServer(change: Partial<URL>): string {
  return Object.assign(new URL(process.env.TEST_POSTGRES_URL!), change).href;
}

function withOptions(options: string): string {
  return onServer({ password: secret, search: `?options=${options}` });
}

const refused = ({ source }: RegExp) => new RegExp(`database of DATABASE_URL cannot be used: ${source}`);

it.each([
  ['unreachable', `postgres://user:${secret}@127.0.0.1:1/store`, /DATABASE_URL cannot be reached/],
  ['locked', onServer({ username: 'nobody', password: secret }), /DATABASE_URL.*"nobody" does not exist/],
  ['missing', onServer({ pathname: '/nowhere' }), /DATABASE_URL.*"nowhere" does not exist/],
  [
    'without an option of the URL',
    withOptions('-cnosuch%3D1'),
    refused(/unrecognized .* parameter "nosuch"/),
  ],
  ['without a value of the URL', withOptions('-cwork_mem%3Dabc'), refused(/invalid value for .*: "abc"/)],
  ['refusing the form of options', withOptions('-cwork_mem'), refused(/-c work_mem requires a value/)],
])('a database that is %s is reported in one line without its password', async (_what, url, line) => {
  for (const command of ['clients list', 'db status']) {
    const outcome = await runCommand(command.split(' '), { DATABASE_URL: url });
    expect(outcome).toEqual(complaint(1, line));
    expect(outcome.stderr).not.toContain(secret);
  }
});

interface Status {
  database: { kind: string; state: string; location: string; bytes: number | null; postgres: string | null };
  instances: { version: string; pid: number; state: string }[] | null;
  redis: { answers: boolean; version: string } | null;
  problems: string[];
}

async function status(environment: Record<string, string>): Promise<{ code: number | null; status: Status }> {
  const { code, stdout, stderr } = await runCommand(['status', '--json'], environment);
  const read = JSON.parse(stdout) as Status;
  for (const problem of read.problems) expect(stderr).toContain(problem);
  return { code, status: read };
}

it('status reports a missing store, and creates none', async () => {
  const environment = processes.embedded('missing');
  const { code, status: found } = await status(environment);
  expect(code).toBe(1);
  expect(found).toMatchObject({ database: { state: 'missing' }, instances: null });
  expect(found.problems.join()).toMatch(
    /There is no database in .* set DATA_DIR or DATABASE_URL to an existing one/,
  );
  expect((await runCommand(['status'], environment)).stdout).toContain(
    '\nIt is unknown whether an instance of the service runs.\n',
  );
  expect(existsSync(environment.DATA_DIR)).toBe(false);
});

it('status of a store over DATABASE_URL reports its instances, and problems: an unavailable Redis, an unavailable database', async () => {
  const { url: DATABASE_URL, pool } = await database();
  const named = { DATABASE_URL: `${DATABASE_URL}?application_name=shop`, REDIS_URL: redis.url };
  const first = await processes.serve(named);
  // This Redis has no password, and its driver would print a warning about that.
  const REDIS_URL = redis.url.replace('//', '//:superfluous@');
  const withRedis = await petstore(['status', '--json'], { DATABASE_URL, REDIS_URL });
  expect(withRedis).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(withRedis.stdout)).toMatchObject({
    instances: [{ version: VERSION }],
    redis: { answers: true, version: expect.any(String) as string },
  });
  const another = (host: string, degraded: boolean) =>
    pool.query(
      `INSERT INTO instances (id, version, host, pid, address, port, degraded)
         VALUES (gen_random_uuid(), '1.0.0', '${host}', 1, '::', 1, ${degraded})`,
    );
  await another('another', false);
  const withoutRedis = await status({ DATABASE_URL, REDIS_URL: 'redis://127.0.0.1:1' });
  expect(withoutRedis.code).toBe(1);
  expect(withoutRedis.status).toMatchObject({ redis: { answers: false } });
  expect(withoutRedis.status.instances).toHaveLength(2);
  expect(withoutRedis.status.problems).toHaveLength(1);
  await first.end();
  expect((await status({ DATABASE_URL })).status.instances).toHaveLength(1);
  // One instance has not been seen for five minutes, and another one counts alone.
  await pool.query(`UPDATE instances SET host = 'elsewhere', seen_at = now() - interval '5 minutes'`);
  await another('here', true);
  const unsure = await status({ DATABASE_URL });
  expect(unsure.code).toBe(1);
  const states = unsure.status.instances!.map(({ state }) => state);
  expect(states.sort()).toEqual(expect.arrayContaining(['running', 'unknown']) as unknown);
  expect(unsure.status.problems.join(' ')).toMatch(
    /It is unknown whether .* still runs: the process last reported \d+ s ago/,
  );
  expect(unsure.status.problems.join(' ')).toMatch(/Redis is unavailable to process 1 on here/);
  await pool.query('DELETE FROM instances');
  const olderCollation = `UPDATE pg_database SET datcollversion = '0' WHERE datname = current_database()`;
  await pool.query(olderCollation);
  expect((await status({ DATABASE_URL })).status.problems.join(' ')).toMatch(
    /version 0 of its collation, and the system has 1, .* REINDEX DATABASE /,
  );
  const away = await status({ DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/store' });
  expect(away.code).toBe(1);
  expect(away.status.database).toMatchObject({ state: 'unreachable', location: '127.0.0.1:1/store' });
});

const STOCK = 1_000_000;
const copy = (to: string, environment: Record<string, string>) =>
  runCommand(['db', 'copy', '--to', to], environment);

describe('a store with the embedded database, in use', () => {
  const environment = processes.embedded();
  let service: ServiceProcess;
  let key: string;

  beforeAll(async () => {
    service = await processes.serve(environment);
    key = await insertUnlimitedKey(embeddedUrl(path('store')));
    await service.send(key, 'PUT', '/store/inventory/1', { quantity: STOCK });
    const made = await service.send(key, 'POST', '/webhooks', { url: 'https://example.com/hook' });
    expect(made.status).toBe(201);
  });

  it('is shown by status with its service, its data and their size, also as a table', async () => {
    // The service listens on a free port. The command finds it although no setting names it.
    const called = await runCommand(['api', '/pets', '-f', 'limit=1'], { ...environment, PETSTORE_KEY: key });
    expect(called).toMatchObject({ code: 0, stderr: '' });
    const { code, status: found } = await status(environment);
    expect({ code, problems: found.problems }).toEqual({ code: 0, problems: [] });
    expect(found).toMatchObject({
      database: { kind: 'embedded', state: 'running', postgres: expect.stringMatching(/^18\./) as string },
      instances: [{ version: VERSION, pid: service.child.pid, state: 'running', degraded: false }],
      redis: null,
    });
    const { stdout } = await runCommand(['status'], environment);
    expect(stdout).toMatch(/^version +[\d.]+\nkind +embedded\n[^]*\nmax connections +\d+\n/);
    expect(stdout).toMatch(/\nsize +\d+\.\d MB\n\nversion +[^]*\n1\.0\.0 +\S+ +\d+ /);
  });

  it('is copied to a folder, which then is a store that status does not start, and other commands open', async () => {
    const order = await service.send(key, 'POST', '/store/orders', { petId: 1, quantity: 2 });
    expect(order.status).toBe(201);
    const backup = processes.embedded('backup');
    const { code, stdout, stderr } = await copy(backup.DATA_DIR, environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^table +rows\n[^]*\nwebhooks +1\n[^]*\nCopied [\d,]+ rows; the counts agree\. .+DATA_DIR=\S+backup /,
    );
    const keyFile = path('backup', 'webhook.key');
    expect(readFileSync(keyFile)).toEqual(readFileSync(path('store', 'webhook.key')));
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);

    const files = readdirSync(backup.DATA_DIR);
    const stopped = await status(backup);
    expect(stopped.code).toBe(1);
    expect(stopped.status.problems.join()).toMatch(/set DATA_DIR or DATABASE_URL to another database/);
    expect(stopped.status.database).toMatchObject({ state: 'stopped', bytes: null });
    expect((await runCommand(['status'], backup)).stdout).toContain('\nNo instance of the service runs.\n');
    expect(readdirSync(backup.DATA_DIR)).toEqual(files);
    expect((await runCommand(['export'], backup)).stdout).toContain(`"quantity":${STOCK - 2}`);
    expect(processes.postmaster('backup')).toBeUndefined();

    rmSync(keyFile);
    mkdirSync(keyFile);
    const failed = await copy(path('another'), backup);
    const reason = /^petstore: the copy failed, and the target was not changed: E[^\n]*webhook\.key[^\n]*\n$/;
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(reason) as string });
    expect(existsSync(path('another'))).toBe(false);
  });

  it('is copied to a server from which the service can then run, with the key of its secrets', async () => {
    const target = await database('template1');
    const { code, stdout, stderr } = await copy(target.url, environment);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^The secrets [^\n]* the key in \S+\/webhook\.key: set WEBHOOK_KEY to the content of that file\.\n$/,
      ) as string,
    });
    expect(stdout).toMatch(/Copied [\d,]+ rows; the counts agree\. Set DATABASE_URL/);
    const WEBHOOK_KEY = readFileSync(path('store', 'webhook.key'), 'utf8').trim();
    const moved = await processes.serve({ DATABASE_URL: target.url, WEBHOOK_KEY });
    expect((await moved.send(key, 'POST', '/store/orders', { petId: 1 })).status).toBe(201);
    await moved.end();
  });
});

describe('a store on a server', () => {
  let full: TestDatabase;
  let environment: { DATABASE_URL: string };

  beforeAll(async () => {
    full = await database();
    environment = { DATABASE_URL: full.url };
    await full.pool.query(`INSERT INTO categories (name) VALUES ('Dogs')`);
  });

  it('leaves no folder of that name if its copy is killed', async () => {
    await whileHeld(full.pool, 'LOCK TABLE webhooks', async () => {
      const killed = new RunningCommand(['db', 'copy', '--to', path('one')], environment);
      await until(async () => (await lockWaits(full.pool)) === 1);
      expect(await killed.outcome('SIGKILL')).toMatchObject({ code: null, stdout: '' });
    });
    const left = readdirSync(processes.folder.root).filter((name) => name.startsWith('one'));
    expect(left).toEqual([expect.stringMatching(/^one\.\w+\.partial$/)]);
  });

  it('is not copied where something is, or nothing answers, and no password is shown', async () => {
    mkdirSync(path('used'));
    writeFileSync(path('used', 'note'), 'mine');
    for (const [target, code, reason] of [
      [path('used'), 1, /used already exists/],
      [path('used', 'note', 'copy'), 1, /cannot open \S+note\/copy: not a directory\./],
      ['postgres://user:not-to-be-seen@127.0.0.1:1/store', 1, /not changed: connect ECONNREFUSED/],
      ['mysql://user:not-to-be-seen@host/store', 2, /--to takes a URL/],
      ['postgres://user:not-to-be-seen@host/store?sslmode=prefer', 2, /--to takes sslmode disable, require/],
    ] as const) {
      const outcome = await runCommand(['db', 'copy', '--to', target], environment);
      expect(outcome).toEqual(complaint(code, reason));
      expect(outcome.stderr).not.toContain('not-to-be-seen');
    }
    expect(readdirSync(path('used'))).toEqual(['note']);
  });
});
