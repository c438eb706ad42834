import { Redis } from 'ioredis';
import { QuotaAdministration, QuotaStore } from '../../../../src/modules/quotas';
import { QuotaRecords } from '../../../../src/modules/quotas/stores/quota-records';
import type { ApiClient } from '../../../support/api-client';
import { RedisServer } from '../../../support/redis-server';
import { COUNTED, standing } from '../../../support/limits';
import { Pair } from './support/pair';
import { until } from '../../../support/eventually';

const HOUR = 3_600_000;
const LIMITS = { plan: 'enterprise', perMinute: 1_000, perDay: 100 } as const;

let redis: RedisServer;
let client: Redis;
let pair: Pair;

beforeAll(async () => {
  redis = await RedisServer.start();
  client = new Redis(redis.url);
  pair = await Pair.start(redis.url);
  await until(() => !pair.degraded.some(Boolean));
});
afterAll(async () => {
  client.disconnect();
  await pair?.close();
  await redis?.close();
});

/** A client that has used 6 requests of its day, of which Redis knows nothing any more; its key was banned since, and is not now. */
async function forgottenAndUnbanned(): Promise<{ clientId: number; caller: ApiClient }> {
  const { clientId, callers } = await pair.client(LIMITS);
  const caller = callers[0]!;
  for (let request = 0; request < 6; request += 1) {
    expect((await caller.get(COUNTED)).status).toBe(200);
  }
  await Promise.all(pair.services.map(({ app }) => app.get(QuotaRecords).flush()));
  await client.flushall();
  const { pool } = pair.services[0].database;
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM api_keys WHERE client_id = $1', [
    clientId,
  ]);
  const keyId = Number(rows[0]!.id);
  const bans = pair.services[0].app.get(QuotaAdministration);
  await bans.ban(keyId, HOUR);
  await until(async () => (await client.exists(`petstore:{client:${clientId}}:key:${keyId}`)) === 1);
  await bans.unban(keyId);
  await until(async () => (await standing(caller)).ban.banned === false);
  return { clientId, caller };
}

describe('a client that Redis has evicted, and whose ban was reloaded', () => {
  test('keeps the daily usage that the database has', async () => {
    const { caller } = await forgottenAndUnbanned();
    expect((await standing(caller)).day.remaining).toBe(94);
  });

  test('is reloaded, and still counted by both instances together', async () => {
    const { caller } = await forgottenAndUnbanned();
    await pair.services[0].app.get(QuotaStore).reloadDays();
    expect((await caller.get(COUNTED)).headers.get('RateLimit')).toContain('"day";r=93;');
  });

  test('can have its windows reset', async () => {
    const { clientId, caller } = await forgottenAndUnbanned();
    await caller.get(COUNTED);
    await pair.services[0].app.get(QuotaAdministration).reset(clientId);
    await until(async () => (await standing(caller)).day.remaining === 100);
  });
});
