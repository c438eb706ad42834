import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { EmbeddedPostgresError, findData, startEmbeddedPostgres } from '#libs/embedded-postgres';
import { EmbeddedServers, letOthersRead, responds } from '../../../support/embedded-servers';
import { query } from '../../../support/query';

const servers = new EmbeddedServers();
const database = 'shop';
const hasty = { database, parameters: { fsync: 'off' } };
/** Most tests share one folder, and leave it as it was: to create a database takes longer than everything else here. */
const directory = servers.path('shared', '.data');
const cluster = join(directory, 'data');

const start = () => startEmbeddedPostgres({ dataDirectory: directory, database });
const failure = (dataDirectory: string) =>
  startEmbeddedPostgres({ dataDirectory, database }).then(
    () => 'it started',
    (error: unknown) =>
      error instanceof EmbeddedPostgresError ? error.message : `unclear: ${String(error)}`,
  );

beforeAll(async () => {
  await (await startEmbeddedPostgres({ dataDirectory: directory, ...hasty })).stop();
});
afterAll(() => servers.clear());

it('a server has its rows again after a stop, can be found, is durable, listens on a Unix socket only, and stops without waiting for clients', async () => {
  const first = await start();
  await query(first.url, 'CREATE TABLE item AS SELECT 7 AS id');
  await Promise.all([first.stop(), first.stop()]);
  expect(await responds(first.url)).toBe(false);
  const second = await start();
  const found = findData(directory, 'shop')!;
  expect(await query(found.url, 'SELECT id FROM item')).toEqual([{ id: 7 }]);
  const socket = `-h '${cluster}' -U postgres shop`;
  expect(found.psql).toBe(`psql ${socket}`);
  const settings = {
    ...{ data_checksums: 'on', fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
    ...{ listen_addresses: '', server_encoding: 'UTF8' },
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
  expect(findData(servers.path('nothing'), 'shop')).toBeUndefined();
});

it('a start removes what an interrupted initdb left, and a postmaster.pid of another process, empty, or from before the clock was set back', async () => {
  const lines = `${cluster}\n1700000000\n5432\n.\n\n  123 4\nready   \n`;
  const file = join(cluster, 'postmaster.pid');
  const later = new Date(Date.now() + 7_200_000);
  for (const content of [`${process.pid}\n${lines}`, '', `4194304\n${lines}`]) {
    fs.writeFileSync(file, content, { mode: 0o600 });
    fs.chownSync(file, fs.statSync(cluster).uid, fs.statSync(cluster).gid);
    if (content.startsWith('4194304')) fs.utimesSync(file, later, later);
    fs.mkdirSync(join(directory, 'init-0123456789ab', 'data'), { recursive: true });
    await (await start()).stop();
    expect(fs.readdirSync(directory).sort()).toEqual(['data', 'server.log']);
  }
});

it('a start begins another log where it has grown large', async () => {
  fs.writeFileSync(join(directory, 'server.log'), 'x'.repeat(1_000_001));
  await (await start()).stop();
  expect(fs.statSync(join(directory, 'server.log.old')).size).toBe(1_000_001);
  expect(fs.statSync(join(directory, 'server.log')).size).toBeLessThan(10_000);
  fs.rmSync(join(directory, 'server.log.old'));
});

describe('a start fails in one line', () => {
  it('where the folder is a file or below one, or cannot be made, or the path is longer than that of a socket may be', async () => {
    const file = servers.path('file');
    fs.writeFileSync(file, '');
    for (const path of [file, join(file, 'below'), '/proc/none/below']) {
      expect(await failure(path)).toMatch(/^cannot start PostgreSQL in .*: (ENOENT|ENOTDIR): /);
    }
    expect(() => findData(file, 'shop')).toThrow(/^cannot look into .*: ENOTDIR: not a directory/);
    const long = /too long for a Unix socket; choose a shorter/;
    expect(await failure(servers.path('long'.repeat(40)))).toMatch(long);
  });

  it('where the data are of another major version, or of no version', async () => {
    const other = servers.path('other');
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
    expect(await failure(directory)).toMatch(
      /does not start in .*: could not read file "global\/pg_control"/,
    );
    fs.writeFileSync(file, content);
  });

  it('where nobody waits for a server that recovers any more', async () => {
    const recovering = createServer((socket) => socket.destroy()).listen(join(cluster, '.s.PGSQL.5432'));
    const ending = new AbortController();
    recovering.once('connection', () => ending.abort(new Error('SIGTERM')));
    const outcome = startEmbeddedPostgres({ dataDirectory: directory, database, signal: ending.signal });
    await expect(outcome).rejects.toThrow(/^cannot start PostgreSQL in .*: SIGTERM$/);
    await once(recovering.close(), 'close');
  });
});
