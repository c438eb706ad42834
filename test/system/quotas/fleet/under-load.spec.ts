import { RedisServer } from '../../../support/redis-server';
import type { ApiClient } from '../../../support/api-client';
import { COUNTED, MINUTE, statuses } from '../../../support/limits';
import { Pair } from './support/pair';
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

/** Requests of clients that keep within a share, on both instances, until `work` has ended. @returns their statuses */
async function modestRequestsDuring(work: () => Promise<void>): Promise<Set<number>> {
  const answered = new Set<number>();
  let isOver = false;
  const load = async (): Promise<void> => {
    while (!isOver) {
      const { callers } = await pair.client({ plan: 'free' });
      for (let request = 0; request < SHARE / 2 && !isOver; request += 1) {
        const answers = await Promise.all(callers.map((caller) => caller.get(COUNTED)));
        answers.forEach(({ status }) => answered.add(status));
      }
    }
  };
  await Promise.all([load(), load(), work().finally(() => (isOver = true))]);
  return answered;
}

const allSay = (degraded: boolean) =>
  until(async () => (await pair.saysDegraded()).every((one) => one === degraded));

async function allowed(caller: ApiClient, requests: number): Promise<number> {
  return (await statuses(caller, requests)).filter((status) => status === 200).length;
}

const stop = [() => redis.stop(), () => redis.start()] as const;
const pause = [() => Promise.resolve(redis.pause()), () => Promise.resolve(redis.resume())] as const;

test.each([
  ['is restarted, and starts a new minute', stop, LIMIT],
  ['does not answer for a while', pause, 0],
])(
  'while Redis %s, no request fails, no client is refused within its share, and the minute allows the limit and the shares',
  async (_what, [leave, comeBack], begunAnew) => {
    // An outage within a minute of another one would be taken for the same.
    pair.advance(2 * MINUTE);
    const answered = await modestRequestsDuring(async () => {
      const { callers } = await pair.client({ plan: 'free' });
      await allSay(false);
      let total = await allowed(callers[0]!, LIMIT + 2);
      await leave();
      await allSay(true);
      for (const caller of callers) {
        const share = await allowed(caller, SHARE + 2);
        expect(share).toBeLessThanOrEqual(SHARE);
        total += share;
      }
      await comeBack();
      await allSay(false);
      total += await allowed(callers[1]!, LIMIT + 2);
      expect(total).toBeGreaterThanOrEqual(LIMIT);
      expect(total).toBeLessThanOrEqual(LIMIT + SHARE + SHARE + begunAnew);
    });
    expect(answered).toEqual(new Set([200]));
  },
);

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
