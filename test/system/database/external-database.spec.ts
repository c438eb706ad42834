import { execFileSync } from 'node:child_process';
import { writeFileSync, chownSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { DataSource } from 'typeorm';
import { Database, isDatabaseUnavailable } from '#libs/database';
import { dataSourceOptions, migrateToNewest } from '../../../src/store/data-source';
import { insertUnlimitedKey } from '../../support/test-database';
import { letOthersRead, responds } from '../../support/embedded-servers';
import { eventually, until } from '../../support/eventually';
import { read, useFolder } from '../../support/files';
import { PGBOUNCER, findProgram, POSTGRESQL } from '../../support/programs';
import { query } from '../../support/query';
import { freePort } from '../../support/ports';
import { useProcesses } from '../../support/service-process';
import { SpawnedProcess } from '../../support/spawned-process';
import { TcpProxy } from '../../support/tcp-proxy';
import { commandJson } from '../cli/support/use-command-line';

const { processes, database } = useProcesses('template1');
/** PgBouncer and PostgreSQL refuse to run as root. */
const NOBODY = process.getuid!() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A proxy with a TCP port for the PostgreSQL of the tests, because PgBouncer's user has no access to its Unix socket. */
let way: TcpProxy;

afterAll(() => way.close());

/** Starts a real PgBouncer with the documented configuration. @returns the URL of the database behind it */
async function startPgBouncer(): Promise<string> {
  way = await TcpProxy.start(database.url);
  const { port, username, pathname } = new URL(way.url);
  const url = new URL(database.url);
  url.host = `127.0.0.1:${await freePort()}`;
  const [, documented = ''] = /^```ini\n(.+?)^```$/ms.exec(read('docs/operations/database.md'))!;
  const target = `user=${username} host=127.0.0.1 port=${port} `;
  const configuration = documented
    .replace('petstore = host=127.0.0.1 port=5432 dbname=petstore ', `${pathname.slice(1)} = ${target}`)
    .replace('6432', url.port)
    .replace(/auth_type = .+\nauth_file = .+/, 'auth_type = any');
  const folder = processes.folder.make('pgbouncer');
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, configuration);
  letOthersRead(folder);
  processes.folder.add(new SpawnedProcess([findProgram(PGBOUNCER)!, file], NOBODY));
  await until(() => responds(url.href));
  return url.href;
}

it('A service behind PgBouncer as documented migrates, reads, writes and applies changes, and status sees all instances', async () => {
  const pooled = await startPgBouncer();
  const settings = { DATABASE_URL: `${pooled}?statement_timeout=9000` };
  const service = await processes.serve(settings);
  const key = await insertUnlimitedKey(pooled);
  const turns = Array.from({ length: 40 }, async (_, turn) => {
    const { status } = await service.send(key, 'POST', '/categories', { name: `category ${turn}` });
    const read = await service.send(key, 'GET', `/categories?name=category ${turn}`);
    return [status, read.status];
  });
  expect(await Promise.all(turns)).toEqual(turns.map(() => [201, 200]));
  const another = await processes.serve(settings);
  // The pooler lends the same connection to both instances and to the command.
  const instances = async () =>
    (await commandJson<{ instances: { pid: number }[] }>(['status'], settings)).instances.map(
      ({ pid }) => pid,
    );
  for (const [url, isPooled] of [
    [settings.DATABASE_URL, true],
    [database.url, false],
  ] as const) {
    const dataSource = await new DataSource(dataSourceOptions(url, { poolSize: 1 })).initialize();
    // Only behind a pooler does each transaction set its timeouts.
    expect(await new Database(dataSource).withSession(async (session) => session.isPooled)).toBe(isPooled);
    await dataSource.destroy();
  }
  for (const _time of [1, 2]) {
    expect((await instances()).sort()).toEqual([service.child.pid, another.child.pid].sort());
  }
  await another.end();
  expect(await instances()).toEqual([service.child.pid]);
  await commandJson(['keys', 'revoke', '1', '--yes'], settings);
  await eventually(async () => expect((await service.send(key, 'GET', '/rate-limit')).status).toBe(401));
  await service.end();
  const { rows } = await database.pool.query(
    `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
     WHERE datname = current_database() AND locktype = 'advisory'`,
  );
  expect(rows).toEqual([]);
});

describe('Behind a network that loses packets', () => {
  const STATEMENT_TIMEOUT_MS = 2_000;
  /** After this time, a connection counts as silent. The statement timeout is shorter, so the database itself answers in time. */
  const SILENCE_MS = STATEMENT_TIMEOUT_MS + 1_000;

  /** The database `postgres`, because other tests cannot clone the template while this test is connected to it. */
  const url = Object.assign(new URL(process.env.TEST_POSTGRES_URL!), { pathname: '/postgres' }).href;
  let proxy: TcpProxy;
  let dataSource: DataSource;

  beforeAll(async () => {
    proxy = await TcpProxy.start(url);
    dataSource = await connect(proxy.url);
  });

  /** A pool with one connection like those of the service, except that the pool does not close it when it is idle. */
  function connect(to: string): Promise<DataSource> {
    const options = dataSourceOptions(`${to}?statement_timeout=${STATEMENT_TIMEOUT_MS}`, { poolSize: 1 });
    const extra = { ...(options.extra as object), idleTimeoutMillis: 0 };
    return new DataSource({ ...options, extra } as typeof options).initialize();
  }

  afterAll(async () => {
    await dataSource.destroy();
    await proxy.close();
  });

  const session = async (on = dataSource) =>
    (await on.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid'))[0]!.pid;

  it('A statement on a connection that falls silent fails in time, and the next one uses another connection', async () => {
    const before = await session();
    proxy.fallSilent();
    const failure: unknown = await session().catch((error: unknown) => error);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    await proxy.restore();
    expect(await session()).not.toBe(before);
  });

  it('A response that arrived while this process was busy does not count as silence', async () => {
    // The connection does not go through the proxy, because the proxy runs in this process and would be busy, too.
    const direct = await connect(url);
    expect(await direct.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '2s' }]);
    const before = await session(direct);
    const answer = session(direct);
    // The statement is sent first. Then the process is blocked, so that the answer arrives unnoticed.
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SILENCE_MS + 500);
    expect(await answer).toBe(before);
    expect(await session(direct)).toBe(before);
    await direct.destroy();
  });
});

describe('With the tools of a server', () => {
  const bin = dirname(findProgram(POSTGRESQL)!);
  const folder = useFolder();
  const urlOf = (name: string) => `postgres://postgres@${encodeURIComponent(folder)}/${name}`;
  let server: SpawnedProcess;

  beforeAll(async () => {
    if (NOBODY.uid !== undefined) {
      chownSync(folder, NOBODY.uid, NOBODY.gid);
    }
    const options = { ...NOBODY, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' } };
    const data = join(folder, 'data');
    execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-E', 'UTF8', '--no-sync'], options);
    const args = ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off'];
    server = new SpawnedProcess([join(bin, 'postgres'), ...args], options);
    await until(() => responds(urlOf('postgres')));
    await query(urlOf('postgres'), 'CREATE DATABASE petstore');
    await migrateToNewest(urlOf('petstore'), () => undefined);
    await query(
      urlOf('petstore'),
      `INSERT INTO categories (name) VALUES ('Dogs');
       INSERT INTO clients (name, plan) VALUES ('acme', 'free');
       INSERT INTO events (id, type, data) VALUES (gen_random_uuid(), 'category.created', '{}');
       INSERT INTO webhooks (client_id, url, secrets, created_at, enabled, since) VALUES (1, '', '', now(), true, 0)`,
    );
  });
  afterAll(() => server.end('SIGINT'));

  /** Runs a script with the tools of this server, as an operator would. */
  function shell(script: string): void {
    const env = { PATH: `${bin}:${process.env.PATH}`, PGHOST: folder, PGUSER: 'postgres' };
    execFileSync('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env, stdio: 'pipe' });
  }

  /** The block of docs/operations/database.md that begins with this command, changed for this server. */
  function documented(command: string): string {
    return read('docs/operations/database.md')
      .split('```')
      .find((text) => text.includes(`\n${command}`))!
      .replaceAll(
        /postgres:\/\/petstore@db\.example:5432\/(\w+)/g,
        `'postgres://postgres@/$1?host=${folder}'`,
      )
      .replace('--owner petstore', '');
  }

  const content = (name: string) =>
    query(
      urlOf(name),
      `SELECT categories.name, clients.name AS client, since, position, events.id FROM categories, clients, webhooks, events`,
    );

  it('The documented backup of a server with its own tools is restored, and one with a setting of newer tools too', async () => {
    const whole = await content('petstore');
    expect(whole).toHaveLength(1);
    shell(documented('pg_dump'));
    expect(await content('restored')).toEqual(whole);
    // Tools from version 17 on begin with this setting, which servers of the versions 15 and 16 do not know.
    shell('dropdb restored; createdb restored');
    const newer = `pg_restore() { echo 'SET transaction_timeout = 0;'; command pg_restore "$@"; }`;
    shell(`${newer}\n${documented('pg_restore --no-owner -f')}`);
    expect(await content('restored')).toEqual(whole);
  });
});
