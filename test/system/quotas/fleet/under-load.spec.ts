import { RedisServer } from '../../../support/redis-server';
import { COUNTED, MINUTE } from '../../../support/limits';
import { Pair } from './support/pair';
import { SteadyLoad } from './support/steady-load';
import { until } from '../../../support/eventually';

const LIMIT = 60;
/** Of the limit, for either of the two instances. */
const SHARE = 30;

let redis: RedisServer;
let pair: Pair;

beforeAll(async () => {
  redis = await RedisServer.start();
  pair = await Pair.start(redis.url);
});
afterAll(async () => {
  await pair?.close();
  await redis?.close();
});

const stop = [() => redis.stop(), () => redis.start()] as const;
const pause = [() => Promise.resolve(redis.pause()), () => Promise.resolve(redis.resume())] as const;

describe.each([
  ['is restarted', stop, LIMIT],
  ['does not answer for a while', pause, 0],
])('while requests run and Redis %s', (_what, [leave, comeBack], begunAnew) => {
  let load: SteadyLoad;
  let allowedByReturn: number[];
  const said: boolean[][] = [];

  beforeAll(async () => {
    // An outage within a minute of another one would be taken for the same.
    pair.advance(2 * MINUTE);
    load = new SteadyLoad(pair, SHARE / 2);
    load.start();
    await load.saturated();
    said.push(await pair.saysDegraded());
    await leave();
    await until(() => pair.degraded.every(Boolean));
    await load.saturated();
    allowedByReturn = load.greedy.map(({ allowed }) => allowed);
    await until(async () => (await pair.saysDegraded()).every(Boolean));
    said.push(await pair.saysDegraded());
    await comeBack();
    await until(() => !pair.degraded.some(Boolean));
    await load.saturated();
    await load.stop();
    await until(async () => !(await pair.saysDegraded()).some(Boolean));
    said.push(await pair.saysDegraded());
  });

  test('no request fails, and the instances stay ready and report how they count', () => {
    expect([...load.statuses.keys()].sort()).toEqual([200, 429]);
    expect(said).toEqual([
      [false, false],
      [true, true],
      [false, false],
    ]);
  });

  test('no client is refused within its share', () => {
    expect(load.statuses.get(200)).toBeGreaterThan(4 * LIMIT);
    expect(load.unjust).toEqual([]);
  });

  test('an instance alone allows a client its share, and no more', () => {
    for (const { allowedAlone } of load.greedy) {
      expect(Math.max(...allowedAlone)).toBeLessThanOrEqual(SHARE);
    }
  });

  test('a minute in which Redis fails allows the limit and the shares; a Redis that lost its memory starts a new one', () => {
    const byReturn = LIMIT + SHARE + SHARE;
    expect(Math.max(...allowedByReturn)).toBeLessThanOrEqual(byReturn);
    const inAll = Math.max(...load.greedy.map(({ allowed }) => allowed));
    expect(inAll).toBeLessThanOrEqual(byReturn + begunAnew);
  });
});

test('a burst during an outage of Redis gets no more than the share', async () => {
  pair.advance(2 * MINUTE);
  const { callers } = await pair.client({ plan: 'free' });
  redis.pause();
  try {
    let allowed = 0;
    // So few are refused that the client is not banned.
    for (const requests of [SHARE + 2, 2, 2, SHARE]) {
      const answers = await Promise.all(Array.from({ length: requests }, () => callers[0]!.get(COUNTED)));
      allowed += answers.filter(({ status }) => status === 200).length;
    }
    expect(pair.degraded[0]).toBe(true);
    expect(allowed).toBeLessThanOrEqual(SHARE);
  } finally {
    redis.resume();
    await until(() => !pair.degraded.some(Boolean));
  }
});
