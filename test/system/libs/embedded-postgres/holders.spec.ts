import * as fs from 'node:fs';
import { join } from 'node:path';
import { answers, Bench, killPostmaster, postmasterPid } from '../../../support/embedded-postgres-bench';
import { query } from '../../../support/query';
import { type Checkout, makeCheckout } from '../../../support/checkout';
import { until } from '../../../support/eventually';

const bench = new Bench();
let checkout: Checkout;

beforeAll(() => {
  checkout = makeCheckout(bench.path('checkout'));
});

afterAll(() => bench.clear());

/** Options for a folder of that name; its rows are not precious unless a test says so. */
function folder(name: string, parameters: Record<string, string> = { fsync: 'off' }) {
  return { dataDirectory: bench.path(name), database: 'shop', parameters };
}

const clusterOf = (name: string): string => join(bench.path(name), 'data');

describe('concurrent processes', () => {
  it('stop the server with the last process, whichever that is', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const first = bench.hold(checkout, folder('two'));
      const { url } = await first.answer;
      const second = bench.hold(checkout, folder('two'));
      expect(await second.answer).toMatchObject({ adopted: true, url });
      const holders = order.map((index) => [first, second][index]!);
      expect(await holders[0]!.stop()).toBe(0);
      expect(await answers(url)).toBe(true);
      expect(await holders[1]!.stop()).toBe(0);
      expect(await answers(url)).toBe(false);
      expect(postmasterPid(clusterOf('two'))).toBeUndefined();
    }
  });

  it('create one database when they race for an empty folder', async () => {
    const holders = Array.from({ length: 3 }, () => bench.hold(checkout, folder('race')));
    const told = await Promise.all(holders.map((holder) => holder.answer));
    expect(told.map((answer) => answer.error)).toEqual(holders.map(() => undefined));
    expect(new Set(told.map((answer) => answer.url)).size).toBe(1);
    expect(told.filter((answer) => !answer.adopted)).toHaveLength(1);
    await Promise.all(holders.map((holder) => holder.stop()));
    expect(await answers(told[0]!.url)).toBe(false);
    expect(fs.readdirSync(bench.path('race', 'holders'))).toEqual([]);
  });

  it('never lose the server to a process that leaves while another arrives', async () => {
    let leaving = bench.hold(checkout, folder('relay'));
    await leaving.answer;
    for (let round = 0; round < 3; round++) {
      const arriving = bench.hold(checkout, folder('relay'));
      const [{ url }] = await Promise.all([arriving.answer, leaving.stop()]);
      expect(await answers(url)).toBe(true);
      leaving = arriving;
    }
    await leaving.stop();
  });
});

describe('a killed process', () => {
  it('does not take the server down with its process group', async () => {
    const holder = bench.hold(checkout, folder('killed', {}), { detached: true });
    const { url } = await holder.answer;
    process.kill(-holder.child.pid!, 'SIGINT');
    await until(() => holder.child.signalCode !== null);
    expect(await answers(url)).toBe(true);
    const next = bench.hold(checkout, folder('killed', {}));
    expect(await next.answer).toMatchObject({ adopted: true });
    await next.stop();
  });

  it('in the middle of the first start does not block the next', async () => {
    // One start takes about 0.7 s, so these moments fall into initdb, its end and the start of the server.
    for (const [index, moment] of [200, 500].entries()) {
      const options = folder(`interrupted-${index}`, {});
      const holder = bench.hold(checkout, options);
      await new Promise((resolve) => setTimeout(resolve, moment));
      await holder.kill();
      const next = bench.hold(checkout, options);
      const { url, error } = await next.answer;
      expect(error).toBeUndefined();
      expect(await answers(url)).toBe(true);
      await next.stop();
    }
  });
});

describe('a killed server', () => {
  it('is restarted at once with every acknowledged row', async () => {
    const options = folder('crash', {});
    const first = bench.hold(checkout, options);
    const { url } = await first.answer;
    await query(url, 'CREATE TABLE item AS SELECT generate_series(1, 1000) AS id');
    // Sessions in the middle of something notice last, and keep the shared memory until then.
    let killed = false;
    const work = async () => {
      while (!killed) await query(url, 'SELECT count(*) FROM generate_series(1, 6000000)');
    };
    const busy = Array.from({ length: 3 }, () => work().catch(() => 'ended'));
    await until(async () => {
      const [row] = await query<{ n: number }>(
        url,
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE '%6000000%' AND state = 'active'",
      );
      return row!.n >= 3;
    });
    killed = true;
    process.kill(postmasterPid(clusterOf('crash'))!, 'SIGKILL');
    const second = bench.hold(checkout, options);
    const answer = await second.answer;
    expect(answer).toMatchObject({ adopted: false, url });
    expect(await query(url, 'SELECT count(*)::int AS n FROM item')).toEqual([{ n: 1000 }]);
    await Promise.all(busy);
    await first.stop();
    expect(await answers(url)).toBe(true);
    await second.stop();
    expect(await answers(url)).toBe(false);
  });

  it('is detected together with its killed process, even as a zombie', async () => {
    const options = folder('crash', {});
    const holder = bench.hold(checkout, options);
    await holder.answer;
    await holder.kill();
    await killPostmaster(clusterOf('crash'));
    const next = bench.hold(checkout, options);
    expect(await next.answer).toMatchObject({ adopted: false });
    await next.stop();
  });

  it('is not mistaken for the server of a copy of its folder', async () => {
    const first = bench.hold(checkout, folder('two'));
    const { url } = await first.answer;
    fs.cpSync(bench.path('two'), bench.path('copy'), { recursive: true, preserveTimestamps: true });
    const second = bench.hold(checkout, folder('copy'));
    const answer = await second.answer;
    expect(answer.error).toBeUndefined();
    expect(answer.url).not.toBe(url);
    expect(answer.adopted).toBe(false);
    await second.stop();
    expect(await answers(url)).toBe(true);
    await first.stop();
  });
});
