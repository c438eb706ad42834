import * as fs from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import {
  Bench,
  type How,
  killPostmaster,
  postmasterPid,
  responds,
} from '../../../support/embedded-postgres-bench';
import { query } from '../../../support/query';
import { makeCheckout } from '../../../support/checkout';
import { until } from '../../../support/eventually';
import { embeddedUrl } from '../../faults/support/embedded-url';

const bench = new Bench();
const checkout = makeCheckout(bench.path('checkout'));
/** Most tests share one folder: to create a database takes longer than everything else here. */
const folder = bench.path('shop');
const cluster = join(folder, 'data');

const hold = (options: object = {}, how?: How) =>
  bench.hold(
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

afterAll(() => bench.clear());

describe('processes that use one folder', () => {
  it('share one server, and the last to leave stops it, whichever that is', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const holders = [hold(), hold()];
      const reports = await Promise.all(holders.map((holder) => holder.report));
      expect(reports.filter(({ adopted }) => !adopted)).toHaveLength(1);
      expect(await holders[order[0]!]!.stop()).toBe(0);
      expect(await isRunning()).toBe(true);
      expect(await holders[order[1]!]!.stop()).toBe(0);
      expect(postmasterPid(cluster)).toBeUndefined();
    }
  });

  it('create one database when they race for an empty folder, and all may leave at once', async () => {
    const options = { dataDirectory: bench.path('race') };
    const holders = Array.from({ length: 3 }, () => hold(options));
    const reports = await Promise.all(holders.map((holder) => holder.report));
    expect(reports.map(({ error }) => error)).toEqual(holders.map(() => undefined));
    expect(reports.filter(({ adopted }) => !adopted)).toHaveLength(1);
    expect(await Promise.all(holders.map((holder) => holder.stop()))).toEqual([0, 0, 0]);
    expect(postmasterPid(bench.path('race', 'data'))).toBeUndefined();
    const next = hold(options);
    await next.report;
    await next.stop();
    expect(fs.readdirSync(bench.path('race')).sort()).toEqual(['data', 'password', 'server.log']);
  });

  it('never lose the server to one that leaves while another arrives', async () => {
    let leaving = hold();
    await leaving.report;
    for (let round = 0; round < 4; round++) {
      const arriving = hold();
      const [{ error }] = await Promise.all([arriving.report, leaving.stop()]);
      expect(error).toBeUndefined();
      expect(await isRunning()).toBe(true);
      leaving = arriving;
    }
    await leaving.stop();
  });
});

describe('a killed process', () => {
  it('leaves the server to the next one, which stops it; a signal to its process group ends only itself', async () => {
    for (const signal of ['SIGKILL', 'SIGINT'] as const) {
      const holder = hold({}, { detached: true });
      await holder.report;
      process.kill(-holder.child.pid!, signal);
      await until(() => holder.child.signalCode !== null);
      expect(await isRunning()).toBe(true);
      await until(async () => (await countOfLeases()) === 0);
      const next = hold();
      expect(await next.report).toMatchObject({ adopted: true });
      await next.stop();
      expect(postmasterPid(cluster)).toBeUndefined();
    }
  });

  it('among several does not count', async () => {
    const [killed, other] = [hold(), hold()];
    await Promise.all([killed.report, other.report]);
    await killed.kill();
    // Its session notices a moment later.
    await until(async () => (await countOfLeases()) === 1);
    await other.stop();
    expect(postmasterPid(cluster)).toBeUndefined();
  });

  it('in the middle of the first start does not block the next', async () => {
    const options = { dataDirectory: bench.path('interrupted') };
    const holder = hold(options);
    await until(() => fs.existsSync(bench.path('interrupted')) && isUnfinished(bench.path('interrupted')));
    await holder.kill();
    const next = hold(options);
    expect((await next.report).error).toBeUndefined();
    await next.stop();
  });
});

function isUnfinished(directory: string): boolean {
  return fs.readdirSync(directory).some((name) => name.startsWith('init-'));
}

describe('a killed server', () => {
  it('is restarted with every acknowledged row, once, and at once, however many processes supervise it', async () => {
    const holders = Array.from({ length: 3 }, () => hold({ supervise: true }));
    await Promise.all(holders.map((holder) => holder.report));
    await query(url(), 'CREATE TABLE item AS SELECT generate_series(1, 1000) AS id');
    // A session in the middle of something notices last, and keeps the shared memory until then.
    const busy = query(url(), 'SELECT count(*) FROM generate_series(1, 6000000)').catch(() => 'ended');
    const killed = postmasterPid(cluster)!;
    process.kill(killed, 'SIGKILL');
    await until(async () => postmasterPid(cluster) !== killed && (await isRunning()));
    expect(await query(url(), 'SELECT count(*)::int AS n FROM item')).toEqual([{ n: 1000 }]);
    await busy;
    // Everybody holds it again.
    await until(async () => (await countOfLeases()) === 3);
    for (const holder of holders) expect(await holder.stop()).toBe(0);
    expect(postmasterPid(cluster)).toBeUndefined();
  });

  it('in the middle of its start is started again', async () => {
    const holder = hold();
    await until(() => hasKilled(postmasterPid(cluster)));
    expect((await holder.report).error).toBeUndefined();
    await holder.stop();
  });

  it('stays down when its last user stops at that moment', async () => {
    const holder = hold({ supervise: true });
    await holder.report;
    process.kill(postmasterPid(cluster)!, 'SIGKILL');
    expect(await holder.stop()).toBe(0);
    expect(await isRunning()).toBe(false);
  });

  it('that recovers from the crash of one session is stopped by its last user', async () => {
    const holder = hold();
    await holder.report;
    const client = new Client({ connectionString: url() });
    const ended = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    process.kill(rows[0]!.pid, 'SIGKILL');
    await ended;
    expect(await holder.stop()).toBe(0);
    expect(postmasterPid(cluster)).toBeUndefined();
  });

  it('stays down without supervision until the next start, even if it is a zombie', async () => {
    const holder = hold();
    await holder.report;
    // Halted, so that it does not reap the server.
    holder.child.kill('SIGSTOP');
    await killPostmaster(cluster);
    const next = hold();
    expect(await next.report).toMatchObject({ adopted: false });
    holder.child.kill('SIGCONT');
    expect(await holder.stop()).toBe(0);
    expect(await isRunning()).toBe(true);
    await next.stop();
    expect(postmasterPid(cluster)).toBeUndefined();
  });
});

/** The file of a server that was killed before may still be there. */
function hasKilled(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

async function countOfLeases(): Promise<number> {
  const [row] = await query<{ n: number }>(
    embeddedUrl(folder, 'postgres'),
    "SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND granted",
  );
  return row!.n;
}

it('a server is not mistaken for that of a copy of its folder', async () => {
  const first = hold();
  await first.report;
  fs.cpSync(folder, bench.path('copy'), {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => !path.includes('.s.PGSQL'),
  });
  const second = hold({ dataDirectory: bench.path('copy') });
  expect(await second.report).toMatchObject({ adopted: false });
  await second.stop();
  expect(await isRunning()).toBe(true);
  await first.stop();
});
