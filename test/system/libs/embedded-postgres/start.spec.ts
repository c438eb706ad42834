import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '#libs/embedded-postgres';
import { answers, Bench } from '../../../support/embedded-postgres-bench';
import { query } from '../../../support/query';

const bench = new Bench();
const directory = bench.path('first', '.data');
const cluster = join(directory, 'data');
const options = { dataDirectory: directory, database: 'shop' };

const start = () => startEmbeddedPostgres(options);
afterAll(() => bench.clear());

describe('a single process', () => {
  it('creates a database, and finds its rows again after a stop', async () => {
    const first = await start();
    expect(first.adopted).toBe(false);
    await query(first.url, 'CREATE TABLE item AS SELECT 7 AS id');
    await Promise.all([first.stop(), first.stop()]);
    await first.stop();
    expect(await answers(first.url)).toBe(false);
    const lines: string[] = [];
    const second = await startEmbeddedPostgres({ ...options, log: (line) => lines.push(line) });
    expect(await query(second.url, 'SELECT id FROM item')).toEqual([{ id: 7 }]);
    // The port is remembered, so a URL which somebody wrote down stays good.
    expect(second.url).toBe(first.url);
    expect(lines.join()).not.toContain(new URL(second.url).password);
    await second.stop();
  });

  it('leaves durability on and uses UTF-8 with checksums', async () => {
    const server = await start();
    const rows = await query(
      server.url,
      `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes',
        'data_checksums', 'server_encoding', 'listen_addresses', 'unix_socket_directories') ORDER BY 1`,
    );
    expect(Object.fromEntries(rows.map((row) => Object.values(row as Record<string, string>)))).toEqual({
      ...{ data_checksums: 'on', fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
      ...{ listen_addresses: '127.0.0.1', server_encoding: 'UTF8', unix_socket_directories: '' },
    });
    await server.stop();
  });

  it('accepts settings of the caller, and creates another database in the same folder', async () => {
    const parameters = { fsync: 'off', application_name: "it's a test" };
    const server = await startEmbeddedPostgres({ ...options, database: 'Zweite "DB"', parameters });
    expect(await query(server.url, "SELECT current_database() AS d, current_setting('fsync') AS f")).toEqual([
      { d: 'Zweite "DB"', f: 'off' },
    ]);
    await server.stop();
  });

  it('keeps its password in a file that only the owner can read, and refuses any other', async () => {
    const server = await start();
    const file = join(directory, 'password');
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.statSync(directory).mode & 0o007).toBe(0);
    const url = new URL(server.url);
    expect(fs.readFileSync(file, 'utf8').trim()).toBe(url.password);
    const arguments_ = fs.readFileSync(
      `/proc/${fs.readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]}/cmdline`,
    );
    expect(arguments_.includes(url.password)).toBe(false);
    url.password = 'guess';
    await expect(query(url.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await server.stop();
  });

  it('stops the server without waiting for connected clients', async () => {
    const server = await start();
    const busy = query(server.url, 'SELECT pg_sleep(3600)').catch(() => 'ended');
    await server.stop();
    expect(await busy).toBe('ended');
  });

  it('uses another port when the saved one is taken', async () => {
    const server = await start();
    await server.stop();
    const port = Number(new URL(server.url).port);
    const squatter = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => squatter.once('listening', resolve));
    const second = await start();
    expect(second.url).not.toBe(server.url);
    expect(await answers(second.url)).toBe(true);
    await second.stop();
    squatter.close();
  });

  it('stops the server even when the folder was removed', async () => {
    const dataDirectory = bench.path('removed');
    const server = await startEmbeddedPostgres({ ...options, dataDirectory, parameters: { fsync: 'off' } });
    fs.rmSync(dataDirectory, { recursive: true });
    await server.stop();
    expect(await answers(server.url)).toBe(false);
    expect(fs.existsSync(dataDirectory)).toBe(false);
  });
});

describe('leftovers', () => {
  it('a postmaster.pid with the pid of another process is detected', async () => {
    const file = join(cluster, 'postmaster.pid');
    fs.writeFileSync(
      file,
      `${process.pid}\n${cluster}\n1700000000\n15432\n\n127.0.0.1\n  123 4\nready   \n`,
      { mode: 0o600 },
    );
    fs.chownSync(file, fs.statSync(cluster).uid, fs.statSync(cluster).gid);
    const server = await start();
    expect(server.adopted).toBe(false);
    await server.stop();
  });

  it('a postmaster.pid that a power failure left empty does not prevent a start', async () => {
    const file = join(cluster, 'postmaster.pid');
    fs.writeFileSync(file, '', { mode: 0o600 });
    fs.chownSync(file, fs.statSync(cluster).uid, fs.statSync(cluster).gid);
    const server = await start();
    expect(await answers(server.url)).toBe(true);
    await server.stop();
  });

  it('an interrupted initdb and files of dead processes are removed', async () => {
    const left = join(directory, 'init-0123456789ab');
    fs.mkdirSync(join(left, 'data'), { recursive: true });
    fs.writeFileSync(join(directory, 'port.0123456789ab.tmp'), '');
    fs.writeFileSync(join(directory, 'holders', '999999.gone.abc'), '');
    fs.writeFileSync(join(directory, 'lock', 'ticket.999999.gone.abc.1'), '');
    fs.writeFileSync(join(directory, 'lock', 'choosing.999999.gone.abc'), '');
    const server = await start();
    expect(fs.existsSync(left)).toBe(false);
    expect(fs.readdirSync(directory).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    await server.stop();
    expect(await answers(server.url)).toBe(false);
    expect(fs.readdirSync(join(directory, 'lock'))).toEqual([]);
  });

  it('a large log is rotated', async () => {
    const log = join(directory, 'server.log');
    fs.truncateSync(log, 9 * 1024 * 1024);
    const server = await start();
    expect(fs.statSync(log).size).toBeLessThan(100_000);
    await server.stop();
  });
});
