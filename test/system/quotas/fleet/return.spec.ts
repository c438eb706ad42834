import type { ApiClient } from '../../../support/api-client';
import { statuses } from '../../../support/limits';
import { CutOffPair } from './support/cut-off-pair';
import type { Pair } from './support/pair';

const LIMIT = 60;
/** Of the limit, for either of the two instances. */
const SHARE = 30;

let instances: CutOffPair;
let pair: Pair;

beforeAll(async () => {
  instances = await CutOffPair.start();
  ({ pair } = instances);
});
afterAll(() => instances?.close());

/** How many requests of so many are let through. */
async function allowed(caller: ApiClient, requests: number): Promise<number> {
  return (await statuses(caller, requests)).filter((status) => status === 200).length;
}

test('an instance that has lost Redis counts its share, and the other still counts exactly', async () => {
  const { callers } = await pair.client({ plan: 'free' });
  const [here, there] = callers as [ApiClient, ApiClient];
  await instances.loseRedis(1);
  expect(pair.degraded).toEqual([false, true]);
  expect(await allowed(there, SHARE + 3)).toBe(SHARE);
  expect(await allowed(here, LIMIT + 3)).toBe(LIMIT);
  await instances.findRedis(1);
});

test('its return does not restart the minute for the others', async () => {
  const { callers } = await pair.client({ plan: 'free' });
  const [here, there] = callers as [ApiClient, ApiClient];
  let total = await allowed(here, 40);
  await instances.loseRedis(1);
  total += await allowed(there, 1);
  await instances.findRedis(1);
  total += await allowed(here, LIMIT);
  expect(total).toBeLessThanOrEqual(LIMIT + SHARE);
});
