import { QuotaAdministration, QuotaStore } from '../../../../src/modules/quotas';
import { QuotaRecords } from '../../../../src/modules/quotas/stores/quota-records';
import type { ApiClient } from '../../../support/api-client';
import { COUNTED, standing, statuses } from '../../../support/limits';
import { CutOffPair } from './support/cut-off-pair';
import type { Pair } from './support/pair';
import { until } from '../../../support/eventually';

const HOUR = 3_600_000;
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

const bans = () => pair.services[0].app.get(QuotaAdministration);

async function withoutRedis(work: () => Promise<unknown>): Promise<void> {
  await Promise.all([instances.loseRedis(0), instances.loseRedis(1)]);
  await work();
  await Promise.all([instances.findRedis(0), instances.findRedis(1)]);
}

describe('while Redis is unavailable, and for an idle key', () => {
  test('an unban applies when Redis is back', async () => {
    const { keyId, callers } = await pair.client();
    await bans().ban(keyId, 72 * HOUR);
    await bothAnswer(callers, 403);
    await withoutRedis(() => bans().unban(keyId));
    await bothAnswer(callers, 200);
  });

  test('a new ban applies when Redis is back', async () => {
    const { keyId, callers } = await pair.client();
    await bothAnswer(callers, 200);
    await withoutRedis(() => bans().ban(keyId, HOUR));
    await bothAnswer(callers, 403);
  });

  test('a reset applies when Redis is back', async () => {
    const { clientId, callers } = await pair.client({ plan: 'enterprise', perMinute: 100, perDay: 100 });
    await bothAnswer(callers, 200);
    pair.advance(1_000);
    await withoutRedis(() => pair.services[0].app.get(QuotaAdministration).reset(clientId));
    await until(async () => (await standing(callers[0]!)).day.remaining === 100);
  });
});

test('missed changes are applied when listening resumes', async () => {
  const { keyId, callers } = await pair.client();
  const { pool } = pair.services[0].database;
  await bans().ban(keyId, 72 * HOUR);
  await bothAnswer(callers, 403);
  await pool.query('ALTER TABLE key_bans DISABLE TRIGGER key_bans_changed');
  await bans().unban(keyId);
  await pool.query('ALTER TABLE key_bans ENABLE TRIGGER key_bans_changed');
  await Promise.all(pair.services.map((service) => service.app.get(QuotaStore).reloadBans()));
  expect(await statusesOf(callers)).toEqual([200, 200]);
});

test('a change that cannot be applied at once is retried', async () => {
  const { keyId, callers } = await pair.client();
  await bothAnswer(callers, 200);
  const reading = jest.spyOn(QuotaRecords.prototype, 'bans');
  reading.mockRejectedValueOnce(new Error('busy')).mockRejectedValueOnce(new Error('busy'));
  await bans().ban(keyId, HOUR);
  await bothAnswer(callers, 403);
  expect(reading.mock.calls.length).toBeGreaterThanOrEqual(4);
  reading.mockRestore();
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
  instances.redis.pause();
  for (const caller of callers) {
    while ((await caller.get(COUNTED)).status === 200) {
      allowed += 1;
    }
  }
  instances.redis.resume();
  await until(() => !pair.degraded.some(Boolean));
  // The two of the first silence may have been counted twice, by the instances and by Redis; nothing more may.
  expect(allowed).toBeLessThanOrEqual(102);
  expect(allowed).toBeGreaterThan(80);
});

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
