import type { ApiClient } from '../../support/api-client';
import { RedisServer } from '../../support/redis-server';
import { until } from '../../support/service-process';
import { TcpProxy } from '../../support/tcp-proxy';
import { statuses } from '../support/limits';
import { Pair } from './support/pair';

const LIMIT = 60;
/** Of the limit, for either of the two instances. */
const SHARE = 30;

let redis: RedisServer;
/** The way of either instance to Redis. */
let ways: [TcpProxy, TcpProxy];
let pair: Pair;

beforeAll(async () => {
  redis = await RedisServer.start();
  ways = [await TcpProxy.start(redis.url), await TcpProxy.start(redis.url)];
  pair = await Pair.start(ways[0].url, ways[1].url);
  await until(() => !pair.degraded.some(Boolean));
});
afterAll(async () => {
  await pair?.close();
  await Promise.all(ways.map((way) => way.close()));
  await redis?.close();
});

/** How many requests of so many are let through. */
async function allowed(caller: ApiClient, requests: number): Promise<number> {
  return (await statuses(caller, requests)).filter((status) => status === 200).length;
}

async function loseRedis(instance: 0 | 1): Promise<void> {
  await ways[instance].refuse();
  await until(() => pair.degraded[instance]!);
}

async function findRedis(instance: 0 | 1): Promise<void> {
  await ways[instance].restore();
  await until(() => !pair.degraded[instance]);
}

test('an instance that alone has lost Redis counts by its share, the other one goes on exactly', async () => {
  const { callers } = await pair.client({ plan: 'free' });
  const [here, there] = callers as [ApiClient, ApiClient];
  await loseRedis(1);
  expect(pair.degraded).toEqual([false, true]);
  expect(await allowed(there, SHARE + 3)).toBe(SHARE);
  expect(await allowed(here, LIMIT + 3)).toBe(LIMIT);
  await findRedis(1);
});

test('its return does not make the others begin a new minute', async () => {
  const { callers } = await pair.client({ plan: 'free' });
  const [here, there] = callers as [ApiClient, ApiClient];
  let total = await allowed(here, 40);
  await loseRedis(1);
  total += await allowed(there, 1);
  await findRedis(1);
  total += await allowed(here, LIMIT);
  expect(total).toBeLessThanOrEqual(LIMIT + SHARE);
});
