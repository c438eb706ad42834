import { Redis } from 'ioredis';
import { type ApiClient } from '../../support/api-client';
import { RedisServer } from '../../support/redis-server';
import { type TestService, startService } from '../../support/service';
import { useService } from '../../support/use-service';
import { COUNTED, HOUR, MINUTE, call, earnBan, limitsIn, standing, statuses } from '../../support/limits';

const DAY_SECONDS = 86_400;
const MIDNIGHT = Date.UTC(2026, 10, 22);

const service = useService();

beforeEach(() => service.clock.set(MIDNIGHT - 12 * HOUR));

interface UsageDay {
  date: string;
  requests: number;
}

/** What the database knows once what waits to be written is written. */
async function usage(caller: ApiClient): Promise<UsageDay[]> {
  const { body } = await caller.get<{ days: UsageDay[] }>('/usage?days=3');
  return body.days.filter(({ requests }) => requests > 0);
}

async function refusedRetryAfter(caller: ApiClient): Promise<number> {
  const [refused] = await call(caller, 1);
  expect(refused!.status).toBe(429);
  const { reset, retryAfter } = limitsIn(refused!);
  expect(reset * 1_000).toBeGreaterThan(service.clock.now());
  return retryAfter!;
}

it('A step back of an hour in an exhausted minute: the wait is at most a minute, and nothing more is allowed before', async () => {
  const caller = await service.caller({ perMinute: 3, perDay: 100 });
  expect(await statuses(caller, 4)).toEqual([200, 200, 200, 429]);
  service.clock.advance(-HOUR);
  const wait = await refusedRetryAfter(caller);
  expect(wait).toBe(60);
  service.clock.advance(wait * 1_000 - 1);
  expect(await statuses(caller, 1)).toEqual([429]);
  service.clock.advance(1);
  expect(await statuses(caller, 1)).toEqual([200]);
  // The series of refusals is over, however long it was announced to be by the clock that was wrong.
  expect((await standing(caller)).ban).toMatchObject({ banned: false, refusalsBeforeBan: 11 });
});

it('A step forward of an hour starts a new minute, and keeps the day', async () => {
  const caller = await service.caller({ perMinute: 3, perDay: 5 });
  expect(await statuses(caller, 4)).toEqual([200, 200, 200, 429]);
  service.clock.advance(HOUR);
  expect(await statuses(caller, 3)).toEqual([200, 200, 429]);
  expect(await refusedRetryAfter(caller)).toBe(11 * 3_600);
});

it('Steps back and forward across midnight: each request counts once, and for one day', async () => {
  const caller = await service.caller({ perMinute: 100, perDay: 20 });
  service.clock.set(MIDNIGHT + 20 * MINUTE);
  await statuses(caller, 5);
  service.clock.advance(-HOUR);
  await statuses(caller, 3);
  service.clock.advance(HOUR);
  await statuses(caller, 2);
  const { day } = await standing(caller);
  expect(day).toMatchObject({ remaining: 10, resetAt: new Date(MIDNIGHT + 24 * HOUR).toISOString() });
  expect(await usage(caller)).toEqual([{ date: '2026-11-22', requests: 11 }]);
});

it('A clock an hour ahead across midnight uses up the new day once, and the wait is no longer than that day', async () => {
  const caller = await service.caller({ perMinute: 100, perDay: 5 });
  service.clock.set(MIDNIGHT - 30 * MINUTE);
  expect(await statuses(caller, 6)).toEqual([200, 200, 200, 200, 200, 429]);
  service.clock.advance(HOUR);
  expect(await statuses(caller, 6)).toEqual([200, 200, 200, 200, 200, 429]);
  service.clock.advance(-HOUR);
  const wait = await refusedRetryAfter(caller);
  expect(wait).toBeLessThanOrEqual(DAY_SECONDS + 3_600);
  service.clock.advance(wait * 1_000);
  expect(await statuses(caller, 1)).toEqual([200]);
});

it('A step back of an hour extends a ban by that hour at most; a step forward of an hour ends it', async () => {
  const caller = await service.caller({ perMinute: 1, perDay: 1_000 });
  await caller.get(COUNTED);
  await earnBan(caller, service);
  service.clock.advance(-HOUR);
  expect(limitsIn(await caller.get(COUNTED)).retryAfter).toBe(3_600 + 120);
  service.clock.advance(2 * HOUR);
  expect(await statuses(caller, 1)).toEqual([200]);
});

it('A restart after a step keeps the count of the day', async () => {
  const { key } = await service.issueKey({ perMinute: 100, perDay: 10 });
  const callerOf = (one: TestService) => one.anonymous().with({ 'X-API-Key': key });
  await statuses(callerOf(service), 4);
  // Counts that wait are written before the usage is told, which is a request as well.
  await callerOf(service).get('/usage');
  const another = await startService({ database: service.database });
  try {
    another.clock.set(service.clock.now() - HOUR);
    expect(limitsIn(await callerOf(another).get(COUNTED)).remaining).toBe(4);
  } finally {
    await another.close();
  }
});

it('A step forward of an hour does not expire what Redis stores about a client', async () => {
  const redis = await RedisServer.start();
  const connection = new Redis(redis.url);
  const shared = await startService({ settings: { redisUrl: redis.url } });
  try {
    await statuses(await shared.caller({ plan: 'free' }), 1);
    const keys = await connection.keys('petstore:{client:*');
    expect(keys.length).toBeGreaterThan(0);
    for (const name of keys) {
      expect(await connection.pttl(name)).toBeGreaterThan(25 * HOUR);
    }
  } finally {
    await shared.close();
    connection.disconnect();
    await redis.close();
  }
});
