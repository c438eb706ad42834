import * as fs from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import {
  EmbeddedServers,
  embeddedUrl,
  type How,
  killPostmaster,
  makeCheckout,
  postmasterPid,
  responds,
} from '../../../support/embedded-servers';
import { query } from '../../../support/query';
import { until } from '../../../support/eventually';

const IN_USE = /^another process runs PostgreSQL in .*; stop that process first, or choose another folder$/;

const servers = new EmbeddedServers();
const checkout = makeCheckout(servers.path('checkout'));
/** Most tests share one folder: to create a database takes longer than everything else here. */
const folder = servers.path('shop');
const cluster = join(folder, 'data');

const hold = (options: object = {}, how?: How) =>
  servers.hold(
    checkout,
    { dataDirectory: folder, database: 'shop', parameters: { fsync: 'off' }, ...options },
    how,
  );
const url = () => embeddedUrl(folder, 'shop');
const isRunning = async () => postmasterPid(cluster) !== undefined && (await responds(url()));

beforeAll(async () => {
  const holder = hold();
  await holder.report;
  await holder.stop();
});

afterAll(() => servers.clear());

describe('a folder', () => {
  it('has one owner; a second says so, and a command uses its server and leaves it running', async () => {
    const owner = hold();
    await owner.report;
    const postmaster = postmasterPid(cluster);
    expect((await hold().report).error).toMatch(IN_USE);
    const command = hold({ share: true });
    expect((await command.report).error).toBeUndefined();
    expect(await command.stop()).toBe(0);
    expect(await isRunning()).toBe(true);
    expect(postmasterPid(cluster)).toBe(postmaster);

    // A server of another container: its process cannot be seen, but its socket responds.
    const file = join(cluster, 'postmaster.pid');
    const original = fs.readFileSync(file, 'utf8');
    const unseen = original.replace(/^\d+/, '4194304');
    const old = new Date(Date.now() - 3_600_000);
    fs.writeFileSync(file, unseen);
    fs.utimesSync(file, old, old);
    expect((await hold().report).error).toMatch(IN_USE);
    expect(fs.readFileSync(file, 'utf8')).toBe(unseen);
    expect(await responds(url())).toBe(true);
    fs.writeFileSync(file, original);
    expect(await owner.stop()).toBe(0);
    expect(postmasterPid(cluster)).toBeUndefined();
  });

  it('gets one database and one owner when several race for it', async () => {
    const options = { dataDirectory: servers.path('race') };
    const holders = Array.from({ length: 3 }, () => hold(options));
    const reports = await Promise.all(holders.map((holder) => holder.report));
    const errors = reports.flatMap(({ error }) => (error === undefined ? [] : [error]));
    expect(errors).toEqual([expect.stringMatching(IN_USE), expect.stringMatching(IN_USE)]);
    expect(await holders[reports.findIndex(({ error }) => error === undefined)]!.stop()).toBe(0);
    expect(postmasterPid(servers.path('race', 'data'))).toBeUndefined();
    expect(fs.readdirSync(servers.path('race')).sort()).toEqual(['data', 'server.log']);
  });

  it('is served by a command that finds no server; it waits at its end for the sessions of others', async () => {
    const command = hold({ share: true });
    await command.report;
    const other = new Client({ connectionString: url() });
    await other.connect();
    const ending = command.stop();
    // From now on the server accepts no new session.
    await until(async () => !(await responds(url())));
    expect((await other.query('SELECT 7 AS seven')).rows).toEqual([{ seven: 7 }]);
    await other.end();
    expect(await ending).toBe(0);
    expect(await isRunning()).toBe(false);
  });
});

async function countOfOwners(): Promise<number> {
  const locks = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted";
  return (await query(embeddedUrl(folder, 'postgres'), locks)).length;
}

it('a killed process leaves the server, which is not of its process group, to the next one, which stops it', async () => {
  const holder = hold({}, { detached: true });
  await holder.report;
  const postmaster = postmasterPid(cluster);
  process.kill(-holder.child.pid!, 'SIGKILL');
  await until(() => holder.child.signalCode !== null);
  expect(await isRunning()).toBe(true);
  // Its session notices a moment later.
  await until(async () => (await countOfOwners()) === 0);
  const next = hold();
  expect((await next.report).error).toBeUndefined();
  expect(postmasterPid(cluster)).toBe(postmaster);
  await next.stop();
  expect(postmasterPid(cluster)).toBeUndefined();
});

describe('a killed server', () => {
  it('is started again with every acknowledged row; one that cannot be started again is lost, in one line', async () => {
    const holder = hold();
    await holder.report;
    await query(url(), 'CREATE TABLE item AS SELECT generate_series(1, 1000) AS id');
    // A session in the middle of something notices last, and keeps the shared memory until then.
    const busy = query(url(), 'SELECT count(*) FROM generate_series(1, 6000000)').catch(() => 'ended');
    const killed = postmasterPid(cluster)!;
    process.kill(killed, 'SIGKILL');
    await until(async () => postmasterPid(cluster) !== killed && (await isRunning()));
    expect(await query(url(), 'SELECT count(*)::int AS n FROM item')).toEqual([{ n: 1000 }]);
    await busy;
    await until(async () => (await countOfOwners()) === 1);

    fs.renameSync(join(cluster, 'global'), join(cluster, 'away'));
    process.kill(postmasterPid(cluster)!, 'SIGKILL');
    expect(await holder.loss).toMatch(/^PostgreSQL does not start in .*; see .*server\.log$/);
    fs.renameSync(join(cluster, 'away'), join(cluster, 'global'));
    expect(await holder.stop()).toBe(0);
  });

  it('of a process that hangs goes to another, even as a zombie', async () => {
    const holder = hold();
    await holder.report;
    // Halted, so that it does not reap the server.
    holder.child.kill('SIGSTOP');
    await killPostmaster(cluster);
    const next = hold();
    expect((await next.report).error).toBeUndefined();
    holder.child.kill('SIGCONT');
    expect(await holder.loss).toMatch(IN_USE);
    expect(await holder.stop()).toBe(0);
    expect(await isRunning()).toBe(true);
    await next.stop();
    expect(postmasterPid(cluster)).toBeUndefined();
  });
});

it('a server is not mistaken for that of a copy of its folder', async () => {
  const first = hold();
  await first.report;
  fs.cpSync(folder, servers.path('copy'), {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => !path.includes('.s.PGSQL'),
  });
  const second = hold({ dataDirectory: servers.path('copy') });
  expect((await second.report).error).toBeUndefined();
  expect(postmasterPid(servers.path('copy', 'data'))).not.toBe(postmasterPid(cluster));
  await second.stop();
  expect(await isRunning()).toBe(true);
  await first.stop();
});
