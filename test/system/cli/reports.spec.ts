import { existsSync, readdirSync } from 'node:fs';
import { petstore, unlimitedKey } from '../../support/command-line';
import { embeddedUrl } from '../../support/embedded-servers';
import { RedisServer } from '../../support/redis-server';
import { useProcesses } from '../../support/service-process';
import { commandJson, runCommand, useCommandLine } from './support/use-command-line';

interface Status {
  database: { kind: string; state: string; location: string; bytes: number | null; postgres: string | null };
  instances: { version: string; pid: number; state: string }[] | null;
  redis: { answers: boolean; version: string } | null;
  problems: string[];
}

const inWords = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const { processes, database } = useProcesses();
let redis: RedisServer;

beforeAll(async () => void (redis = await RedisServer.start()));
afterAll(() => redis.close());

async function status(environment: Record<string, string>): Promise<{ code: number | null; status: Status }> {
  const { code, stdout, stderr } = await runCommand(['status', '--json'], environment);
  const read = JSON.parse(stdout) as Status;
  for (const problem of read.problems) expect(stderr).toContain(problem);
  return { code, status: read };
}

describe('status of an embedded store', () => {
  it('reports a missing store, and creates none', async () => {
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

  it('shows the running service, its data and their size, also as a table; what is stopped is not started', async () => {
    const environment = processes.embedded();
    const service = await processes.serve(environment);
    const key = await unlimitedKey(embeddedUrl(environment.DATA_DIR));
    // It listens on some free port, which the settings do not say.
    const called = await runCommand(['api', '/pets', '-f', 'limit=1'], { ...environment, PETSTORE_KEY: key });
    expect(called).toMatchObject({ code: 0, stderr: '' });
    const { code, status: found } = await status(environment);
    expect({ code, problems: found.problems }).toEqual({ code: 0, problems: [] });
    expect(found).toMatchObject({
      database: { kind: 'embedded', state: 'running', postgres: expect.stringMatching(/^18\./) as string },
      instances: [{ version: '1.0.0', pid: service.child.pid, state: 'running', degraded: false }],
      redis: null,
    });
    const { stdout } = await runCommand(['status'], environment);
    const names = [...stdout.matchAll(/^([a-z]+(?: [a-z]+)*) {2,}\S/gm)].map(([, name]) => name);
    const { bytes: _inUnits, ...told } = found.database;
    const shown = Object.entries(told).filter(([, value]) => value !== null);
    expect(names).toEqual(['version', ...shown.map(([name]) => inWords(name)), 'size', 'version']);
    expect(stdout).toMatch(/\nsize +\d+\.\d MB\n[^]*\n1\.0\.0 +\S+ +\d+ /);
    await service.end();

    const files = readdirSync(environment.DATA_DIR);
    const stopped = await status(environment);
    expect(stopped.code).toBe(1);
    expect(stopped.status.problems.join()).toMatch(/set DATA_DIR or DATABASE_URL to another database/);
    expect(stopped.status.database).toMatchObject({ state: 'stopped', bytes: null });
    expect((await runCommand(['status'], environment)).stdout).toContain(
      '\nNo instance of the service runs.\n',
    );
    expect(readdirSync(environment.DATA_DIR)).toEqual(files);
    expect(processes.postmaster()).toBeUndefined();

    // Another command opens it, and stops it again.
    const states = await commandJson<{ state: string }[]>(['db', 'status'], environment);
    expect(states.every(({ state }) => state === 'done')).toBe(true);
    expect(processes.postmaster()).toBeUndefined();
  });
});

it('status of a store over DATABASE_URL reports its instances, and problems: an unavailable Redis, an unavailable database', async () => {
  const DATABASE_URL = database.url;
  const named = { DATABASE_URL: `${DATABASE_URL}?application_name=shop`, REDIS_URL: redis.url };
  const first = await processes.serve(named);
  // The driver of Redis would print that this one has no password.
  const REDIS_URL = redis.url.replace('//', '//:superfluous@');
  const withRedis = await petstore(['status', '--json'], { DATABASE_URL, REDIS_URL });
  expect(withRedis).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(withRedis.stdout)).toMatchObject({
    instances: [{ version: '1.0.0' }],
    redis: { answers: true, version: expect.any(String) as string },
  });
  const another = (host: string, degraded: boolean) =>
    database.pool.query(
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
  // On a machine that has fallen silent, and on one that counts alone.
  await database.pool.query(
    `UPDATE instances SET host = 'elsewhere', seen_at = now() - interval '5 minutes'`,
  );
  await another('here', true);
  const unsure = await status({ DATABASE_URL });
  expect(unsure.code).toBe(1);
  const states = unsure.status.instances!.map(({ state }) => state);
  expect(states.sort()).toEqual(expect.arrayContaining(['running', 'unknown']) as unknown);
  expect(unsure.status.problems.join(' ')).toMatch(
    /It is unknown whether .* still runs: the process last reported \d+ s ago/,
  );
  expect(unsure.status.problems.join(' ')).toMatch(/Redis is unavailable to process 1 on here/);
  await database.pool.query('DELETE FROM instances');
  const olderCollation = `UPDATE pg_database SET datcollversion = '0' WHERE datname = current_database()`;
  await database.pool.query(olderCollation);
  expect((await status({ DATABASE_URL })).status.problems.join(' ')).toMatch(
    /version 0 of its collation, and the system has 1, .* REINDEX DATABASE /,
  );
  const away = await status({ DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/store' });
  expect(away.code).toBe(1);
  expect(away.status.database).toMatchObject({ state: 'unreachable', location: '127.0.0.1:1/store' });
});

describe('on a terminal', () => {
  const NAME = 'a-client-with-a-name-that-is-quite-long';
  const { database, environment } = useCommandLine();

  beforeAll(async () => {
    await database.pool.query(`INSERT INTO clients (name, plan) VALUES ('${NAME}', 'free')`);
    await database.pool.query(
      `INSERT INTO api_keys (client_id, digest, last4, scopes) VALUES (1, 'digest', 'ab12', '{read}')`,
    );
    await database.pool.query(
      `INSERT INTO deprecated_calls SELECT 1, operation, (now() AT TIME ZONE 'UTC')::date, 5, '2026-11-20T10:00:00Z'
       FROM unnest(ARRAY['getPet', 'gone']) AS operation`,
    );
    await database.pool.query(
      `INSERT INTO audit_entries (at, actor_kind, actor, action, client_id, client_name, details)
       VALUES (now(), 'cli', 'ann', 'client.deleted', 99, 'gone', '{}'), (now(), 'key', '7', 'key.banned', 98, 'loud', '{}')`,
    );
    await database.pool.query(
      `INSERT INTO events (id, type, pet_id, data) VALUES (gen_random_uuid(), 'pet.created', 1, '{"id":1}')`,
    );
  });
  // For each test, because its day may be a new one.
  beforeEach(() =>
    database.pool.query(
      `INSERT INTO usage_days SELECT 1, (now() AT TIME ZONE 'UTC')::date, 250 ON CONFLICT DO NOTHING`,
    ),
  );

  /** What a command prints on a terminal of so many columns. */
  async function printed(command: string, columns = 42): Promise<string> {
    const { code, stdout, stderr } = await runCommand(command.split(' '), environment, columns);
    expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
    return stdout;
  }

  it.each([
    [`quotas show ${NAME}`, { client: NAME, plan: 'free' }],
    [`quotas reset ${NAME} --yes`, { client: NAME }],
    ['quotas top', [{ client: NAME, requests: 250 }]],
    ['deprecations', [{ operation: 'getPet', calls: 5 }, { operation: 'gone' }]],
    ['events', [{ type: 'pet.created' }]],
    ['keys rotate 1 --overlap 1h', { replaces: 1 }],
    ['audit --client gone', [{ actor: 'ann', action: 'client.deleted', client: 'gone', keyId: null }]],
    ['audit loud', [{ actor: 'key 7 (automatic)', action: 'key.banned' }]],
    ['version', { version: '1.0.0' }],
  ])('%s --json is JSON, indented on a terminal of any width', async (command, expected) => {
    const text = await printed(`${command} --json`);
    const value = JSON.parse(text) as unknown;
    expect(value).toMatchObject(expected);
    expect(text).toBe(`${JSON.stringify(value, null, 2)}\n`);
  });

  it('the audit log is shown as a table, the newest changes first', async () => {
    await printed(`clients set-plan ${NAME} --plan pro`);
    await printed(`clients set-plan ${NAME} --plan free`);
    const [head, ...rows] = (await printed('audit --limit 2', 400)).split('\n');
    expect(head).toMatch(/^id +at +actor +action +client +details$/);
    expect(rows[0]).toMatch(/ client\.plan_changed +a-client-\S+ +{"plan":{"after":"free","before":"pro"}}$/);
    expect(rows[1]).toMatch(/{"plan":{"after":"pro","before":"free"}}$/);
    expect(rows.slice(2)).toEqual(['']);
  });

  it('quotas are shown in tables that fit the terminal', async () => {
    const window = /window +limit +used +remaining +reset\nminute +60 +0 +60 +-\nday +1000 +\d+ +\d+ +in \d/;
    expect(await printed(`quotas show ${NAME}`, 60)).toMatch(window);
    expect(await printed(`quotas show ${NAME}`)).toContain('\n\nThe running instances save these numbers');
    expect(await printed(`quotas reset ${NAME} --yes`)).toBe(
      `The counted requests of ${NAME} have been set to 0.\n`,
    );
  });
});
