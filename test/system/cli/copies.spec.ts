import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import {
  cleanEnvironment,
  complaint,
  petstore,
  petstoreScript,
  RunningCommand,
  unlimitedKey,
} from '../../support/command-line';
import { query } from '../../support/query';
import { ServiceBench, type ServiceProcess, until } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { embeddedUrl } from '../../support/embedded-postgres-bench';
import { SmallDisk, itOnSmallDisk } from '../faults/support/small-disk';
import { runCommand } from './support/use-command-line';

const STOCK = 1_000_000;
const WRITERS = 3;
const PETS = 1_000;

const bench = new ServiceBench();
const databases: TestDatabase[] = [];
const path = (...names: string[]) => bench.path(...names);
const copy = (to: string, environment: Record<string, string>) =>
  petstore(['db', 'copy', '--to', to], environment);

async function database(template?: string): Promise<TestDatabase> {
  const created = await createTestDatabase(template);
  databases.push(created);
  return created;
}

afterAll(async () => {
  await bench.clear();
  await Promise.all(databases.map((one) => one.drop()));
});

describe('a store with the embedded database, in use', () => {
  const environment = bench.embedded();
  let service: ServiceProcess;
  let key: string;

  beforeAll(async () => {
    service = await bench.serve(environment);
    key = await unlimitedKey(environment);
    await service.send(key, 'PUT', '/store/inventory/1', { quantity: STOCK });
    const made = await service.send(key, 'POST', '/webhooks', { url: 'https://example.com/hook' });
    expect(made.status).toBe(201);
  });

  it('is copied to a folder consistently, with everything acknowledged before, and that folder is a store', async () => {
    const acknowledged: number[] = [];
    let isOver = false;
    const writers = Array.from({ length: WRITERS }, async () => {
      while (!isOver) {
        const response = await service.send(key, 'POST', '/store/orders', { petId: 1, quantity: 2 });
        acknowledged.push(((await response.json()) as { id: number }).id);
      }
    });
    await until(() => acknowledged.length >= 50);
    const before = [...acknowledged];
    const { code, stdout, stderr } = await copy(path('backup'), environment);
    isOver = true;
    await Promise.all(writers);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^table +rows\n[^]*\nwebhooks +1\n[^]*\nCopied [\d,]+ rows; the counts agree\. .+DATA_DIR=\S+backup /,
    );
    expect(acknowledged.length).toBeGreaterThan(before.length);
    expect(statSync(path('backup', 'webhook.key')).mode & 0o777).toBe(0o600);

    // It would not start with another key than that of its secrets.
    const copied = await bench.serve(bench.embedded('backup'));
    const orders = await query<{ id: string }>(embeddedUrl(path('backup')), 'SELECT id FROM orders');
    const ids = new Set(orders.map(({ id }) => Number(id)));
    expect(before.filter((id) => !ids.has(id))).toEqual([]);
    const stock = await copied.send(key, 'GET', '/store/inventory/1');
    expect(await stock.json()).toMatchObject({ quantity: STOCK - 2 * orders.length });
    expect((await copied.send(key, 'POST', '/store/orders', { petId: 1 })).status).toBe(201);
    await copied.end();
  });

  it('is copied to a server from which the service can then run, with the key of its secrets', async () => {
    const target = await database('template1');
    const { code, stdout, stderr } = await copy(target.url, environment);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^The secrets [^\n]* the key in \S+\/webhook\.key: set WEBHOOK_KEY to its text\.\n$/,
      ) as string,
    });
    expect(stdout).toMatch(/Copied [\d,]+ rows; the counts agree\. Set DATABASE_URL/);
    const WEBHOOK_KEY = readFileSync(path('store', 'webhook.key'), 'utf8').trim();
    const moved = await bench.serve({ DATABASE_URL: target.url, WEBHOOK_KEY });
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
    await full.pool.query(
      `INSERT INTO pets (name, category_id, status) SELECT 'pet ' || n, 1, 'sold' FROM generate_series(1, ${PETS}) AS n`,
    );
  });

  it.each([
    ['interrupted', 'SIGINT', 130, []],
    ['killed', 'SIGKILL', null, [expect.stringMatching(/\.\w+\.partial$/)]],
  ] as const)('a copy that is %s leaves no folder of that name', async (_what, signal, code, left) => {
    const locked = await full.pool.connect();
    await locked.query('BEGIN');
    await locked.query('LOCK TABLE webhooks');
    const copying = new RunningCommand(['db', 'copy', '--to', path(signal)], environment);
    const waits = `SELECT FROM pg_locks WHERE relation = 'webhooks'::regclass AND NOT granted`;
    await until(async () => (await locked.query(waits)).rowCount === 1);
    expect(await copying.end(signal)).toMatchObject({ code, stdout: '' });
    await locked.query('ROLLBACK');
    locked.release();
    expect(readdirSync(bench.root).filter((name) => name.startsWith(signal))).toEqual(left);
  });

  it('is not copied where something is, or nothing answers, and no password is shown', async () => {
    mkdirSync(path('used'));
    writeFileSync(path('used', 'note'), 'mine');
    const other = await database();
    for (const [target, code, reason] of [
      [path('used'), 1, /used is there already/],
      [other.url, 1, /not empty: it has the table \w+/],
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

itOnSmallDisk(
  'A disk that fills up fails a copy in one line, which leaves nothing behind (needs root)',
  async () => {
    const large = await database();
    await large.pool.query(
      `INSERT INTO categories (name, description) SELECT 'c', repeat(md5(n::text), 60) FROM generate_series(1, 45000) AS n`,
    );
    const disk = new SmallDisk(bench.folder('disk'), 128);
    const script = `"$NODE" "$PETSTORE" db copy --to "$DISK/copy" 2>&1; echo "= $?"; ls "$DISK"`;
    const [program, ...args] = [...disk.within, 'sh', '-c', script];
    const { stdout } = spawnSync(program, args, {
      env: cleanEnvironment({
        ...{ DATABASE_URL: large.url, DISK: path('disk') },
        ...{ NODE: process.execPath, PETSTORE: petstoreScript() },
      }),
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/^petstore: the copy failed, and the target was not changed: [^\n]+\n= 1\n$/);
  },
);
