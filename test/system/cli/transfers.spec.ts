import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import {
  cleanEnvironment,
  complaint,
  petstore,
  petstoreJson,
  petstoreScript,
} from '../../support/command-line';
import { query } from '../../support/query';
import { ServiceBench, type ServiceProcess, until } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { embeddedUrl } from '../faults/support/embedded-url';
import { SmallDisk, describeOnSmallDisk } from '../faults/support/small-disk';
import { unlimitedKey } from '../faults/support/unlimited-key';
import { RunningCommand } from './support/running-command';

const STOCK = 1_000_000;
const WRITERS = 8;
const PETS = 60_000;

const bench = new ServiceBench();
const databases: TestDatabase[] = [];
const path = (...names: string[]) => bench.path(...names);
const run = (args: string[], environment: Record<string, string>) =>
  petstore(args, environment, { cwd: bench.root });
const start = (args: string[], environment: Record<string, string>) =>
  new RunningCommand(args, { environment, cwd: bench.root });

async function database(template?: string): Promise<TestDatabase> {
  const created = await createTestDatabase(template);
  databases.push(created);
  return created;
}

const petsOf = async ({ pool }: TestDatabase) =>
  (await pool.query<{ name: string }>('SELECT name FROM pets ORDER BY id LIMIT 3')).rows.map(
    ({ name }) => name,
  );
/** No session of another program is left. */
const isLeftAlone = async ({ pool }: TestDatabase) =>
  (
    await pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
  ).rowCount === 0;
const filesOf = (backup: string) => readdirSync(bench.root).filter((name) => name.startsWith(backup));

/** Stores with many pets and with one. */
let full: TestDatabase;
let small: TestDatabase;
/** A backup of the one with many. */
const BACKUP = path('full.tar.gz');

beforeAll(async () => {
  [full, small] = [await database(), await database()];
  for (const { pool } of [full, small]) {
    await pool.query(`INSERT INTO categories (name) VALUES ('Dogs')`);
  }
  await full.pool.query(
    `INSERT INTO pets (name, category_id, status) SELECT 'pet ' || n, 1, 'sold' FROM generate_series(1, ${PETS}) AS n`,
  );
  await small.pool.query(`INSERT INTO pets (name, category_id, status) VALUES ('only', 1, 'sold')`);
  const { rows } = await petstoreJson<{ rows: number }>(['db', 'backup', BACKUP], { DATABASE_URL: full.url });
  expect(rows).toBeGreaterThan(PETS);
  await petstoreJson(['db', 'backup', path('small.tar.gz')], { DATABASE_URL: small.url });
});
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

  it('is backed up consistently, with everything acknowledged before, and restored with the key of its secrets', async () => {
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
    const { code, stdout } = await run(['db', 'backup', 'busy.tar.gz'], environment);
    isOver = true;
    await Promise.all(writers);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Backed up [\d,]+ rows, as \d+ kB: everything up to /) as string,
    });
    expect(acknowledged.length).toBeGreaterThan(before.length);
    expect(statSync(path('busy.tar.gz')).mode & 0o077).toBe(0);

    // Not while the service runs, whatever the options; then in its own place, which meanwhile has another key.
    expect(await run(['db', 'restore', '--yes', 'busy.tar.gz'], environment)).toEqual(
      complaint(1, /the service runs on the target; stop it first/),
    );
    expect((await service.send(key, 'GET', '/pets')).status).toBe(200);
    await service.end();
    writeFileSync(path('store', 'webhook.key'), Buffer.alloc(32, 'k').toString('base64'));
    expect(await run(['db', 'restore', 'busy.tar.gz'], environment)).toEqual(
      complaint(2, /replaces the store in \S+store\. Continue\? Add --yes/),
    );
    expect(await run(['db', 'restore', '--yes', 'busy.tar.gz'], environment)).toMatchObject({ code: 0 });

    // It would not start with another key than that of its secrets.
    service = await bench.serve(environment);
    const orders = await query<{ id: string }>(embeddedUrl(path('store')), 'SELECT id FROM orders');
    const ids = new Set(orders.map(({ id }) => Number(id)));
    expect(before.filter((id) => !ids.has(id))).toEqual([]);
    const stock = await service.send(key, 'GET', '/store/inventory/1');
    expect(await stock.json()).toMatchObject({ quantity: STOCK - 2 * orders.length });
    expect((await service.send(key, 'POST', '/store/orders', { petId: 1 })).status).toBe(201);
  });

  it('is copied to a server from which the service can then run; with a warning while it runs', async () => {
    const target = await database('template1');
    const { code, stdout, stderr } = await run(['db', 'copy', '--to', target.url], environment);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^petstore: warning: the service runs on this store[^\n]*\n[^\n]* the key in \S+\/webhook\.key: set WEBHOOK_KEY to its text\.\n$/,
      ) as string,
    });
    expect(stdout).toMatch(/^table +rows\n[^]*\nwebhooks +1\n[^]*\nCopied [\d,]+ rows; the counts agree\./);
    const WEBHOOK_KEY = readFileSync(path('store', 'webhook.key'), 'utf8').trim();
    const moved = await bench.serve({ DATABASE_URL: target.url, WEBHOOK_KEY });
    expect((await moved.send(key, 'POST', '/store/orders', { petId: 1 })).status).toBe(201);
    await moved.end();
  });
});

describe('db backup', () => {
  it('can be piped into db restore, from one server to another', async () => {
    const backup = start(['db', 'backup', '-'], { DATABASE_URL: full.url });
    const target = await database('template1');
    const restore = start(['db', 'restore', '-'], { DATABASE_URL: target.url });
    backup.child.stdout.pipe(restore.child.stdin);
    expect(await backup.end()).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Backed up [\d,]+ rows/) as string,
    });
    expect(await restore.end()).toMatchObject({ code: 0, stderr: '' });
    expect(await petsOf(target)).toEqual(await petsOf(full));
  });

  it('removes its file when it is interrupted; killed, it leaves one that is marked as partial', async () => {
    const locked = await full.pool.connect();
    await locked.query('BEGIN');
    await locked.query('LOCK TABLE webhooks');
    for (const [signal, code, left] of [
      ['SIGINT', 130, []],
      ['SIGKILL', null, [expect.stringMatching(/^stopped\.\w+\.partial$/)]],
    ] as const) {
      const backup = start(['db', 'backup', 'stopped'], { DATABASE_URL: full.url });
      await until(() => filesOf('stopped').length > 0);
      expect(await backup.end(signal)).toMatchObject({ code, stdout: '' });
      expect(filesOf('stopped')).toEqual(left);
    }
    await locked.query('ROLLBACK');
    locked.release();
  });

  it('of a database without a store is refused', async () => {
    const empty = await database('template1');
    expect(await run(['db', 'backup', 'empty'], { DATABASE_URL: empty.url })).toEqual(
      complaint(1, /the database has no tables to back up/),
    );
    expect(filesOf('empty')).toEqual([]);
  });
});

describe('db restore', () => {
  it.each([
    ['interrupted', 'SIGINT', 130],
    ['killed', 'SIGKILL', null],
  ] as const)('that is %s leaves the store that was there, whole', async (_what, signal, code) => {
    const restore = start(['db', 'restore', '--yes', '-'], { DATABASE_URL: small.url });
    const bytes = readFileSync(BACKUP);
    restore.child.stdin.write(bytes.subarray(0, bytes.length / 2));
    const loads = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^COPY pets'`;
    await until(async () => (await small.pool.query(loads)).rowCount === 1);
    expect(await restore.end(signal)).toMatchObject({ code, stdout: '' });
    await until(() => isLeftAlone(small));
    expect(await petsOf(small)).toEqual(['only']);
  });

  it('refuses what is damaged or no backup in one line, before it creates a database', async () => {
    const bytes = readFileSync(BACKUP);
    writeFileSync(path('truncated'), bytes.subarray(0, -1));
    writeFileSync(path('other'), gzipSync('something else'.repeat(100)));
    writeFileSync(path('plain'), 'text');
    for (const [file, reason] of [
      ['truncated', /nothing was changed: this is not a backup, or it is damaged: unexpected end of file/],
      ['other', /it is not an archive/],
      ['plain', /incorrect header check/],
    ] as const) {
      expect(await run(['db', 'restore', '--yes', file], { DATABASE_URL: small.url })).toEqual(
        complaint(1, reason),
      );
    }
    expect(await petsOf(small)).toEqual(['only']);
    expect(await run(['db', 'restore', 'plain'], bench.embedded('none'))).toMatchObject({ code: 1 });
    expect(readdirSync(bench.root)).not.toContain('none');
  });
});

describe('db copy is refused, with nothing changed, where the target', () => {
  const copy = (url: string) => run(['db', 'copy', '--to', url], { DATABASE_URL: full.url });

  it('has tables, as the database of the store itself has', async () => {
    for (const target of [small, full]) {
      expect(await copy(target.url)).toEqual(complaint(1, /not empty: it has the table \w+/));
    }
    expect(await petsOf(small)).toEqual(['only']);
  });

  it('is unreachable, without its password in the message, or not PostgreSQL', async () => {
    const outcome = await copy('postgres://user:not-to-be-seen@127.0.0.1:1/store');
    expect(outcome).toEqual(complaint(1, /--to cannot be used: connect ECONNREFUSED/));
    expect(outcome.stderr).not.toContain('not-to-be-seen');
    expect(await copy('mysql://user:secret@host/store')).toEqual(complaint(2, /--to takes a URL/));
  });
});

describeOnSmallDisk('A disk that fills up', () => {
  it('during a restore into the embedded database: fails in one line, keeps the store, and can be repeated', () => {
    const disk = new SmallDisk(bench.folder('disk'), 192);
    const script = `
      petstore() { "$NODE" "$PETSTORE" "$@" 2>&1; echo "= $?"; }
      petstore db restore "$SMALL"
      cat /dev/zero > ballast 2>&-
      truncate -s -24M ballast
      petstore db restore --yes "$BACKUP"
      rm ballast
      petstore pets list
      petstore db restore --yes "$BACKUP"
      petstore pets list --limit 1`;
    const [program, ...args] = [...disk.within, 'sh', '-c', `cd "$DATA_DIR/.." && ${script}`];
    const { stdout } = spawnSync(program, args, {
      env: cleanEnvironment({
        ...{ DATA_DIR: path('disk', 'store'), BACKUP, SMALL: path('small.tar.gz') },
        ...{ NODE: process.execPath, PETSTORE: petstoreScript() },
      }),
      encoding: 'utf8',
    });
    const parts = [
      'Restored [^]*= 0',
      'petstore: [^\\n]*nothing was changed: [^\\n]*\n= 1',
      'id [^]* only [^]*= 0',
      'Restored [^]*= 0',
      'id [^]* pet 1 [^]*= 0',
    ];
    expect(stdout).toMatch(new RegExp(`^${parts.join('\\n')}\\n$`));
  });
});
