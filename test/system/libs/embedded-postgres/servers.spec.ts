import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgresError, findData, startEmbeddedPostgres } from '#libs/embedded-postgres';
import {
  embeddedUrl,
  Holder,
  type How,
  killPostmaster,
  letOthersRead,
  makeCheckout,
  postmasterPid,
  responds,
} from '../../../support/embedded-servers';
import { OWNER_LOCK } from '../../../../libs/embedded-postgres/src/server';
import { until } from '../../../support/eventually';
import { query } from '../../../support/query';
import { TestFolder } from '../../../support/test-folder';

const IN_USE = /^another process runs PostgreSQL in .*; stop that process first, or choose another folder$/;

const temporary = new TestFolder();
const database = 'shop';
/** Most tests share this folder, and leave it as it was, because creating a database takes longer than the rest of a test. */
const folder = temporary.path('shared', '.data');
const cluster = join(folder, 'data');
const url = embeddedUrl(folder, database);

beforeAll(async () => {
  const parameters = { fsync: 'off' };
  await (await startEmbeddedPostgres({ dataDirectory: folder, database, parameters })).stop();
});
afterAll(() => temporary.clear());

const start = () => startEmbeddedPostgres({ dataDirectory: folder, database });
const failure = (dataDirectory: string) =>
  startEmbeddedPostgres({ dataDirectory, database }).then(
    () => 'it started',
    (error: unknown) =>
      error instanceof EmbeddedPostgresError ? error.message : `unclear: ${String(error)}`,
  );

it('a server has its rows again after a stop, can be found, is durable, listens on a Unix socket only, and stops without waiting for clients', async () => {
  const first = await start();
  await query(first.url, 'CREATE TABLE item AS SELECT 7 AS id');
  await Promise.all([first.stop(), first.stop()]);
  expect(await responds(first.url)).toBe(false);
  const second = await start();
  const found = findData(folder, 'shop')!;
  expect(await query(found.url, 'SELECT id FROM item')).toEqual([{ id: 7 }]);
  const socket = `-h '${cluster}' -U postgres shop`;
  expect(found.psql).toBe(`psql ${socket}`);
  // prettier-ignore
  const settings = {
    data_checksums: 'on', fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on',
    listen_addresses: '', server_encoding: 'UTF8',
  };
  const rows = await query<{ name: string; setting: string }>(
    second.url,
    'SELECT name, setting FROM pg_settings WHERE name = ANY ($1)',
    [Object.keys(settings)],
  );
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual(settings);
  const busy = query(second.url, 'SELECT pg_sleep(3600)').catch(() => 'ended');
  await second.stop();
  expect(await busy).toBe('ended');
  expect(findData(temporary.path('nothing'), 'shop')).toBeUndefined();
});

it('a start removes what an interrupted initdb left, and a postmaster.pid of another process, empty, or from before the clock was set back', async () => {
  const lines = `${cluster}\n1700000000\n5432\n.\n\n  123 4\nready   \n`;
  const file = join(cluster, 'postmaster.pid');
  const later = new Date(Date.now() + 7_200_000);
  for (const content of [`${process.pid}\n${lines}`, '', `4194304\n${lines}`]) {
    fs.writeFileSync(file, content, { mode: 0o600 });
    fs.chownSync(file, fs.statSync(cluster).uid, fs.statSync(cluster).gid);
    if (content.startsWith('4194304')) fs.utimesSync(file, later, later);
    fs.mkdirSync(join(folder, 'init-0123456789ab', 'data'), { recursive: true });
    await (await start()).stop();
    expect(fs.readdirSync(folder).sort()).toEqual(['data', 'server.log']);
  }
});

it('a start begins another log where it has grown large', async () => {
  fs.writeFileSync(join(folder, 'server.log'), 'x'.repeat(1_000_001));
  await (await start()).stop();
  expect(fs.statSync(join(folder, 'server.log.old')).size).toBe(1_000_001);
  expect(fs.statSync(join(folder, 'server.log')).size).toBeLessThan(10_000);
  fs.rmSync(join(folder, 'server.log.old'));
});

describe('a start fails in one line', () => {
  it('where the folder is a file or below one, or cannot be made, or the path is longer than that of a socket may be', async () => {
    const file = temporary.path('file');
    fs.writeFileSync(file, '');
    for (const path of [file, join(file, 'below'), '/proc/none/below']) {
      expect(await failure(path)).toMatch(/^cannot start PostgreSQL in .*: (ENOENT|ENOTDIR): /);
    }
    expect(() => findData(file, 'shop')).toThrow(/^cannot look into .*: ENOTDIR: not a directory/);
    const long = /too long for a Unix socket; choose a shorter/;
    expect(await failure(temporary.path('long'.repeat(40)))).toMatch(long);
  });

  it('where the data are of another major version, or of no version', async () => {
    const other = temporary.path('other');
    fs.mkdirSync(join(other, 'data'), { recursive: true, mode: 0o700 });
    fs.writeFileSync(join(other, 'data', 'postgresql.conf'), '');
    expect(await failure(other)).toMatch(
      /does not start in .*: ".*" is not a valid data directory; restore .* from a backup; see /,
    );
    fs.writeFileSync(join(other, 'data', 'PG_VERSION'), '17\n');
    letOthersRead(join(other, 'data', 'PG_VERSION'));
    expect(await failure(other)).toMatch(
      /: database files are incompatible with server; use a new folder.*; see .*server\.log$/,
    );
  });

  it('where the server crashes', async () => {
    const file = join(cluster, 'global', 'pg_control');
    const content = fs.readFileSync(file);
    fs.truncateSync(file, 100);
    expect(await failure(folder)).toMatch(/does not start in .*: could not read file "global\/pg_control"/);
    fs.writeFileSync(file, content);
  });

  it('where nobody waits for a server that recovers any more', async () => {
    const recovering = createServer((socket) => socket.destroy()).listen(join(cluster, '.s.PGSQL.5432'));
    const ending = new AbortController();
    recovering.once('connection', () => ending.abort(new Error('SIGTERM')));
    const outcome = startEmbeddedPostgres({ dataDirectory: folder, database, signal: ending.signal });
    await expect(outcome).rejects.toThrow(/^cannot start PostgreSQL in .*: SIGTERM$/);
    await once(recovering.close(), 'close');
  });
});

const checkout = makeCheckout(temporary.path('checkout'));
/** Starts a process that holds the server of the shared folder. */
const hold = (options: object = {}, how?: How) =>
  temporary.add(
    new Holder(checkout, { dataDirectory: folder, database, parameters: { fsync: 'off' }, ...options }, how),
  );
const isRunning = async () => postmasterPid(cluster) !== undefined && (await responds(url));

describe('a folder', () => {
  it('has one owner; a second says so, and a command uses its server and leaves it running', async () => {
    const owner = hold();
    await owner.report();
    const postmaster = postmasterPid(cluster);
    expect((await hold().report()).error).toMatch(IN_USE);
    const command = hold({ share: true });
    expect((await command.report()).error).toBeUndefined();
    expect(await command.stop()).toBe(0);
    expect(await isRunning()).toBe(true);
    expect(postmasterPid(cluster)).toBe(postmaster);

    // The process of a server in another container cannot be seen, but its socket responds.
    const file = join(cluster, 'postmaster.pid');
    const original = fs.readFileSync(file, 'utf8');
    const unseen = original.replace(/^\d+/, '4194304');
    const old = new Date(Date.now() - 3_600_000);
    fs.writeFileSync(file, unseen);
    fs.utimesSync(file, old, old);
    expect((await hold().report()).error).toMatch(IN_USE);
    expect(fs.readFileSync(file, 'utf8')).toBe(unseen);
    expect(await responds(url)).toBe(true);
    fs.writeFileSync(file, original);
    expect(await owner.stop()).toBe(0);
    expect(postmasterPid(cluster)).toBeUndefined();
  });

  it('gets one database and one owner when several race for it', async () => {
    const options = { dataDirectory: temporary.path('race') };
    const holders = Array.from({ length: 3 }, () => hold(options));
    const reports = await Promise.all(holders.map((holder) => holder.report()));
    const errors = reports.flatMap(({ error }) => (error === undefined ? [] : [error]));
    expect(errors).toEqual([expect.stringMatching(IN_USE), expect.stringMatching(IN_USE)]);
    expect(await holders[reports.findIndex(({ error }) => error === undefined)]!.stop()).toBe(0);
    expect(postmasterPid(temporary.path('race', 'data'))).toBeUndefined();
    expect(fs.readdirSync(temporary.path('race')).sort()).toEqual(['data', 'server.log']);
  });

  it('keeps its server if another process has become the owner before the one that launched the server', async () => {
    const ownerLock = 'SELECT pg_try_advisory_lock($1) AS "isOwner"';
    /** Connects as soon as a server listens, and takes the lock of the owner. */
    const overtake = async (): Promise<Client> => {
      for (;;) {
        const other = new Client({ connectionString: embeddedUrl(folder, 'postgres') });
        other.on('error', () => undefined);
        try {
          await other.connect();
          await other.query(ownerLock, [OWNER_LOCK]);
          return other;
        } catch {
          await other.end().catch(() => undefined);
        }
      }
    };
    // The library tries to connect every 20 ms only. If the library is first nevertheless, try once more.
    await until(async () => {
      const overtaking = overtake();
      const holder = hold();
      const [other, { error }] = await Promise.all([overtaking, holder.report()]);
      if (error === undefined) {
        await other.end();
        await holder.stop();
        return false;
      }
      expect(error).toMatch(IN_USE);
      await holder.ended;
      expect((await other.query(ownerLock, [OWNER_LOCK])).rows).toEqual([{ isOwner: true }]);
      await other.end();
      return true;
    });
    const next = hold();
    expect((await next.report()).error).toBeUndefined();
    await next.stop();
  });

  it('is served by a command that finds no server; it waits at its end for the sessions of others', async () => {
    const command = hold({ share: true });
    await command.report();
    const other = new Client({ connectionString: url });
    await other.connect();
    const ending = command.stop();
    // From now on the server accepts no new session.
    await until(async () => !(await responds(url)));
    expect((await other.query('SELECT 7 AS seven')).rows).toEqual([{ seven: 7 }]);
    await other.end();
    expect(await ending).toBe(0);
    expect(await isRunning()).toBe(false);
  });
});

async function countOfOwners(): Promise<number> {
  const locks = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted";
  return (await query(url, locks)).length;
}

it('a killed process leaves the server, which is not of its process group, to the next one, which stops it', async () => {
  const holder = hold({}, { detached: true });
  await holder.report();
  const postmaster = postmasterPid(cluster);
  process.kill(-holder.child.pid!, 'SIGKILL');
  await holder.ended;
  expect(await isRunning()).toBe(true);
  // The session of the killed process ends a moment later.
  await until(async () => (await countOfOwners()) === 0);
  const next = hold();
  expect((await next.report()).error).toBeUndefined();
  expect(postmasterPid(cluster)).toBe(postmaster);
  await next.stop();
  expect(postmasterPid(cluster)).toBeUndefined();
});

describe('a killed server', () => {
  it('is started again with every acknowledged row; one that cannot be started again is lost, in one line', async () => {
    const holder = hold();
    await holder.report();
    await query(url, 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS id');
    // A busy session notices the end of the server last, and keeps the shared memory until then.
    const busy = query(url, 'SELECT count(*) FROM generate_series(1, 6000000)').catch(() => 'ended');
    const killed = postmasterPid(cluster)!;
    process.kill(killed, 'SIGKILL');
    await until(async () => postmasterPid(cluster) !== killed && (await isRunning()));
    expect(await query(url, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 1000 }]);
    await busy;
    await until(async () => (await countOfOwners()) === 1);

    fs.renameSync(join(cluster, 'global'), join(cluster, 'away'));
    process.kill(postmasterPid(cluster)!, 'SIGKILL');
    expect(await holder.loss()).toMatch(/^PostgreSQL does not start in .*; see .*server\.log$/);
    fs.renameSync(join(cluster, 'away'), join(cluster, 'global'));
    expect(await holder.stop()).toBe(0);
    // The next start removes the socket of the killed server.
    await (await start()).stop();
  });

  it('of a process that hangs goes to another, even as a zombie', async () => {
    const holder = hold();
    await holder.report();
    // A stopped process does not reap the server, which so becomes a zombie.
    holder.child.kill('SIGSTOP');
    await killPostmaster(cluster);
    const next = hold();
    expect((await next.report()).error).toBeUndefined();
    holder.child.kill('SIGCONT');
    expect(await holder.loss()).toMatch(IN_USE);
    expect(await holder.stop()).toBe(0);
    expect(await isRunning()).toBe(true);
    await next.stop();
    expect(postmasterPid(cluster)).toBeUndefined();
  });
});

it('a server is not mistaken for that of a copy of its folder', async () => {
  const first = hold();
  await first.report();
  fs.cpSync(folder, temporary.path('copy'), {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => !path.includes('.s.PGSQL'),
  });
  const second = hold({ dataDirectory: temporary.path('copy') });
  expect((await second.report()).error).toBeUndefined();
  expect(postmasterPid(temporary.path('copy', 'data'))).not.toBe(postmasterPid(cluster));
  await second.stop();
  expect(await isRunning()).toBe(true);
  await first.stop();
});
