import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { Database } from '#libs/database';
import { dataSourceOptions } from '../../../src/runtime/data-source';
import { unlimitedKey } from '../../support/command-line';
import { letOthersRead, responds } from '../../support/embedded-postgres-bench';
import { eventually, until } from '../../support/eventually';
import { read } from '../../support/files';
import { PGBOUNCER, findProgram } from '../../support/programs';
import { freePort } from '../../support/redis-server';
import { useProcesses } from '../../support/service-process';
import { TcpProxy } from '../../support/tcp-proxy';
import { commandJson } from '../cli/support/use-command-line';

/** PgBouncer refuses to run as root. */
const NOBODY = 65_534;

const { bench, database } = useProcesses('template1');
let pgbouncer: ChildProcess;
/** The server of the tests has only a Unix socket, which PgBouncer's user may not enter. */
let way: TcpProxy;

afterAll(async () => {
  const ended = once(pgbouncer, 'exit');
  pgbouncer.kill('SIGKILL');
  await ended;
  await way.close();
});

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
  const folder = bench.folder('pgbouncer');
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, configuration);
  letOthersRead(folder);
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  pgbouncer = spawn(findProgram(PGBOUNCER)!, [file], { ...user, stdio: 'ignore' });
  await until(() => responds(url.href));
  return url.href;
}

it('A service behind PgBouncer as documented migrates, reads, writes and applies changes, and status sees all instances', async () => {
  const pooled = await startPgBouncer();
  const settings = { DATABASE_URL: `${pooled}?statement_timeout=9000` };
  const service = await bench.serve(settings);
  const key = await unlimitedKey(pooled);
  const turns = Array.from({ length: 40 }, async (_, turn) => {
    const { status } = await service.send(key, 'POST', '/categories', { name: `category ${turn}` });
    const read = await service.send(key, 'GET', `/categories?name=category ${turn}`);
    return [status, read.status];
  });
  expect(await Promise.all(turns)).toEqual(turns.map(() => [201, 200]));
  const another = await bench.serve(settings);
  // The pooler lends the same connection to both, and to whoever asks.
  const instances = async () =>
    (await commandJson<{ instances: { pid: number }[] }>(['status'], settings)).instances.map(
      ({ pid }) => pid,
    );
  for (const [url, isPooled] of [
    [settings.DATABASE_URL, true],
    [database.url, false],
  ] as const) {
    const dataSource = await new DataSource(dataSourceOptions(url, 1)).initialize();
    // Only there each transaction sets its timeouts.
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
