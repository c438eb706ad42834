import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { complaint, RunningCommand, unlimitedKey } from '../../support/command-line';
import { embeddedUrl } from '../../support/embedded-postgres-bench';
import { until } from '../../support/eventually';
import { ServiceBench, type ServiceProcess } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { runCommand } from './support/use-command-line';

const STOCK = 1_000_000;

const bench = new ServiceBench();
const databases: TestDatabase[] = [];
const path = (...names: string[]) => bench.path(...names);
const copy = (to: string, environment: Record<string, string>) =>
  runCommand(['db', 'copy', '--to', to], environment);

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
    key = await unlimitedKey(embeddedUrl(path('store')));
    await service.send(key, 'PUT', '/store/inventory/1', { quantity: STOCK });
    const made = await service.send(key, 'POST', '/webhooks', { url: 'https://example.com/hook' });
    expect(made.status).toBe(201);
  });

  it('is copied to a folder, which then is a store', async () => {
    const order = await service.send(key, 'POST', '/store/orders', { petId: 1, quantity: 2 });
    expect(order.status).toBe(201);
    const { code, stdout, stderr } = await copy(path('backup'), environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^table +rows\n[^]*\nwebhooks +1\n[^]*\nCopied [\d,]+ rows; the counts agree\. .+DATA_DIR=\S+backup /,
    );
    expect(statSync(path('backup', 'webhook.key')).mode & 0o777).toBe(0o600);
    // It would not start with another key than that of its secrets.
    const copied = await bench.serve(bench.embedded('backup'));
    const stock = await copied.send(key, 'GET', '/store/inventory/1');
    expect(await stock.json()).toMatchObject({ quantity: STOCK - 2 });
    await copied.end();
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
  });

  it('leaves no folder of that name if its copy is killed', async () => {
    const locked = await full.pool.connect();
    await locked.query('BEGIN');
    await locked.query('LOCK TABLE webhooks');
    const killed = new RunningCommand(['db', 'copy', '--to', path('one')], environment);
    const waits = `SELECT FROM pg_locks WHERE relation = 'webhooks'::regclass AND NOT granted`;
    await until(async () => (await locked.query(waits)).rowCount === 1);
    expect(await killed.end('SIGKILL')).toMatchObject({ code: null, stdout: '' });
    await locked.query('ROLLBACK');
    locked.release();
    const left = readdirSync(bench.root).filter((name) => name.startsWith('one'));
    expect(left).toEqual([expect.stringMatching(/^one\.\w+\.partial$/)]);
  });

  it('is not copied where something is, or nothing answers, and no password is shown', async () => {
    mkdirSync(path('used'));
    writeFileSync(path('used', 'note'), 'mine');
    for (const [target, code, reason] of [
      [path('used'), 1, /used already exists/],
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
