import { QuotaStore } from '../../../../src/modules/quotas';
import type { ApiClient } from '../../../support/api-client';
import { earnBan } from '../../../support/limits';
import { until } from '../../../support/eventually';
import { RedisServer } from '../../../support/redis-server';
import { type TestService, startService } from '../../../support/service';

let redis: RedisServer;
let service: TestService;

beforeAll(async () => {
  redis = await RedisServer.start();
  service = await startService({ settings: { redisUrl: redis.url, instances: 2 } });
});

afterAll(async () => {
  await service.close();
  await redis.close();
});

/** Sends requests until one is refused; how many were let in, and what the refusal was. */
async function spend(caller: ApiClient, most = 200): Promise<{ allowed: number; refusal: number }> {
  for (let allowed = 0; allowed < most; allowed += 1) {
    const { status } = await caller.get('/categories');
    if (status !== 200) {
      return { allowed, refusal: status };
    }
  }
  return { allowed: most, refusal: 0 };
}

function degraded(): Promise<boolean> {
  return Promise.resolve(service.app.get(QuotaStore).isDegraded());
}

/** What /health/ready says: ready in any case, because elsewhere it would be no better. */
async function saysDegraded(): Promise<boolean> {
  const response = await fetch(`${service.url}/health/ready`);
  const { info } = (await response.json()) as { info: { limits: { degraded: boolean } } };
  expect(response.status).toBe(200);
  return info.limits.degraded;
}

test('a client has its whole limit while Redis is available', async () => {
  expect(await degraded()).toBe(false);
  expect(await spend(await service.caller({ plan: 'free' }))).toEqual({ allowed: 60, refusal: 429 });
});

test.each([
  ['is down', () => redis.stop(), () => redis.start()],
  ['does not answer', () => Promise.resolve(redis.pause()), () => Promise.resolve(redis.resume())],
])(
  'while Redis %s a client has its share, and the whole limit again afterwards',
  async (_what, leave, comeBack) => {
    const caller = await service.caller({ plan: 'free' });
    await leave();
    expect(await spend(caller)).toEqual({ allowed: 30, refusal: 429 });
    expect(await degraded()).toBe(true);
    await until(saysDegraded);

    await comeBack();
    await until(async () => !(await degraded()));
    expect(await spend(await service.caller({ plan: 'free' }))).toEqual({ allowed: 60, refusal: 429 });
  },
);

test('the share of the day is a share of what was left', async () => {
  const caller = await service.caller({ plan: 'enterprise', perMinute: 1_000, perDay: 100 });
  for (let request = 0; request < 60; request += 1) {
    await caller.get('/categories');
  }
  redis.pause();
  expect(await spend(caller)).toEqual({ allowed: 20, refusal: 429 });

  redis.resume();
  await until(async () => !(await degraded()));
  expect(await spend(caller)).toEqual({ allowed: 20, refusal: 429 });
});

test('a ban earned during an outage of Redis applies when it is back', async () => {
  const offender = await service.caller({ plan: 'enterprise', perMinute: 2, perDay: 1_000 });
  await offender.get('/categories');
  redis.pause();
  await offender.get('/categories');
  await earnBan(offender, service);
  redis.resume();
  await until(async () => !(await degraded()));
  expect((await offender.get('/categories')).status).toBe(403);
});

test('a restarted Redis is empty, but the day and the bans are kept', async () => {
  const { key } = await service.issueKey({ plan: 'enterprise', perMinute: 1_000, perDay: 5 });
  const caller = service.anonymous().with({ 'X-API-Key': key });
  expect(await spend(caller)).toEqual({ allowed: 5, refusal: 429 });
  await caller.get('/usage');

  const { key: banned, keyId } = await service.issueKey({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
  const offender = service.anonymous().with({ 'X-API-Key': banned });
  await offender.get('/categories');
  await earnBan(offender, service);
  await until(async () => {
    const { rowCount } = await service.database.pool.query('SELECT FROM key_bans WHERE key_id = $1', [keyId]);
    const { rows } = await service.database.pool.query<{ n: string }>(
      'SELECT max(requests) AS n FROM usage_days',
    );
    return rowCount === 1 && Number(rows[0]!.n) >= 5;
  });

  await redis.stop();
  await redis.start();
  await until(async () => !(await degraded()));
  service.clock.advance(2_000);
  expect((await caller.get('/categories')).status).toBe(429);
  expect((await offender.get('/categories')).status).toBe(403);
});
