import { Redis } from 'ioredis';
import { QuotasService } from '../../../../src/modules/quotas';
import { QuotaRecords } from '../../../../src/modules/quotas/stores/quota-records';
import type { ApiClient } from '../../../support/api-client';
import { until } from '../../../support/eventually';
import { COUNTED, HOUR, earnBan, standing, statuses } from '../../../support/limits';
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

async function statusesOf(callers: ApiClient[]): Promise<number[]> {
  return Promise.all(callers.map(async (caller) => (await caller.get(COUNTED)).status));
}

/** Waits, in real time, until both instances answer so. */
async function bothAnswer(callers: ApiClient[], status: number): Promise<void> {
  await until(async () => (await statusesOf(callers)).every((one) => one === status));
}

const quotas = () => pair.services[0].app.get(QuotasService);

/** Writes down what was counted. */
const flush = () => Promise.all(pair.services.map(({ app }) => app.get(QuotaRecords).flush()));

async function withoutRedis(work: () => Promise<unknown>): Promise<void> {
  await Promise.all([instances.loseRedis(0), instances.loseRedis(1)]);
  await work();
  await Promise.all([instances.findRedis(0), instances.findRedis(1)]);
}

/** How many requests of so many are let through. */
async function allowed(caller: ApiClient, requests: number): Promise<number> {
  return (await statuses(caller, requests)).filter((status) => status === 200).length;
}

test('the share of the day is a share of what was left, and the counts of Redis apply when it is back', async () => {
  const { callers } = await pair.client({ plan: 'enterprise', perMinute: 1_000, perDay: 100 });
  expect(await allowed(callers[0]!, 60)).toBe(60);
  await instances.loseRedis(0);
  expect(await allowed(callers[0]!, 23)).toBe(20);
  await instances.findRedis(0);
  // The counts of Redis apply again, without what was counted in the meantime.
  expect((await standing(callers[0]!)).day.remaining).toBe(40);
});

test('a ban earned during an outage of Redis applies when it is back', async () => {
  const { callers } = await pair.client({ plan: 'enterprise', perMinute: 2, perDay: 1_000 });
  await statuses(callers[0]!, 1);
  await instances.loseRedis(0);
  await statuses(callers[0]!, 1);
  await earnBan(callers[0]!, ...pair.services);
  await instances.findRedis(0);
  await bothAnswer(callers, 403);
});

test('a restarted Redis is empty, but the day and the bans are kept', async () => {
  const { callers } = await pair.client({ plan: 'enterprise', perMinute: 1_000, perDay: 5 });
  expect(await allowed(callers[0]!, 6)).toBe(5);
  const { callers: offenders } = await pair.client({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
  await statuses(offenders[0]!, 1);
  await earnBan(offenders[0]!, ...pair.services);
  await flush();

  await instances.redis.stop();
  await until(() => pair.degraded.every(Boolean));
  await instances.redis.start();
  await until(() => !pair.degraded.some(Boolean));
  pair.advance(2_000);
  expect(await statuses(callers[0]!, 1)).toEqual([429]);
  await bothAnswer(offenders, 403);
});

describe('while Redis is unavailable, and for an idle key', () => {
  test('an unban applies when Redis is back', async () => {
    const { keyId, callers } = await pair.client();
    await quotas().ban(keyId, 72 * HOUR);
    await bothAnswer(callers, 403);
    await withoutRedis(() => quotas().unban(keyId));
    await bothAnswer(callers, 200);
  });

  test('a new ban applies when Redis is back', async () => {
    const { keyId, callers } = await pair.client();
    await bothAnswer(callers, 200);
    await withoutRedis(() => quotas().ban(keyId, HOUR));
    await bothAnswer(callers, 403);
  });

  test('a reset applies when Redis is back', async () => {
    const { clientId, callers } = await pair.client({ plan: 'enterprise', perMinute: 100, perDay: 100 });
    await bothAnswer(callers, 200);
    pair.advance(1_000);
    await withoutRedis(() => quotas().reset(clientId));
    await until(async () => (await standing(callers[0]!)).day.remaining === 100);
  });
});

test('repeated short outages of Redis give no client more than its daily limit', async () => {
  const { callers } = await pair.client({ plan: 'enterprise', perMinute: 100_000, perDay: 100 });
  const { callers: others } = await pair.client();
  const silence = async (silenced: ApiClient[]): Promise<void> => {
    instances.redis.pause();
    await statusesOf(silenced);
    instances.redis.resume();
    await until(() => !pair.degraded.some(Boolean));
    await statusesOf(others);
  };
  await silence(callers);
  let allowed = callers.length;
  for (let round = 0; round < 4; round += 1) {
    for (let request = 0; request < 22; request += 1) {
      allowed += Number((await callers[0]!.get(COUNTED)).status === 200);
    }
    pair.advance(50_000);
    await silence(others);
  }
  await withoutRedis(async () => {
    for (const caller of callers) {
      while ((await caller.get(COUNTED)).status === 200) {
        allowed += 1;
      }
    }
  });
  // The two of the first silence may have been counted twice, by the instances and by Redis; nothing more may.
  expect(allowed).toBeLessThanOrEqual(102);
  expect(allowed).toBeGreaterThan(80);
});

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

describe('a client that Redis has lost', () => {
  let redis: Redis;
  beforeAll(() => (redis = new Redis(instances.redis.url)));
  afterAll(() => redis.disconnect());

  /** A client that has used 6 requests of its day, of which Redis knows nothing any more. */
  async function forgotten(): Promise<{ clientId: number; caller: ApiClient }> {
    const limits = { plan: 'enterprise', perMinute: 1_000, perDay: 100 } as const;
    const { clientId, callers } = await pair.client(limits);
    const caller = callers[0]!;
    expect(await allowed(caller, 6)).toBe(6);
    await flush();
    await redis.flushall();
    return { clientId, caller };
  }

  test('keeps the day and the minute that the database has', async () => {
    const { caller } = await forgotten();
    expect(await standing(caller)).toMatchObject({ minute: { remaining: 994 }, day: { remaining: 94 } });
  });

  test('can have its windows reset', async () => {
    const { clientId, caller } = await forgotten();
    await caller.get(COUNTED);
    await quotas().reset(clientId);
    await until(async () => (await standing(caller)).day.remaining === 100);
  });
});
