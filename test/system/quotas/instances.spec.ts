import type { FastifyRequest } from 'fastify';
import { Authenticator, ClientsService } from '../../../src/modules/auth';
import { QuotaCounters, QuotasService } from '../../../src/modules/quotas';
import { ADDRESS_LIMITS } from '../../../src/modules/quotas/rules/limits';
import { QuotaRecords } from '../../../src/modules/quotas/counters/quota-records';
import type { ApiCaller, ErrorBody } from '../../support/api-caller';
import { auditEntries } from '../../support/audit';
import { until } from '../../support/eventually';
import { COUNTED, HOUR, MINUTE, call, earnBan, limitsIn, getRateLimit, statuses } from '../../support/limits';
import { tally } from '../../support/tally';
import { whileTableFails } from '../../support/disturbances';
import { useRedis } from '../../support/redis-server';
import { type KeyOptions, type TestService, startService } from '../../support/service';
import { TcpProxy } from '../../support/tcp-proxy';
import { createTestDatabase } from '../../support/test-database';
import { useInstances } from '../../support/use-service';

const LIMIT = 20;
/** The part of the limit that each of the two instances may use alone. */
const SHARE = 10;
const LIMITED = { perMinute: LIMIT, perDay: 1_000 };

const redis = useRedis();
/** The proxies through which the instances reach Redis. Redis runs on with its data if they break the connections. */
let ways: [TcpProxy, TcpProxy];

beforeAll(async () => {
  ways = [await TcpProxy.start(redis.url), await TcpProxy.start(redis.url)];
});

/** Two instances in this process, which share one database and one Redis, and whose clocks stand still. */
const services = useInstances(
  ...[0, 1].map((at) => () => ({ settings: { redisUrl: ways[at]!.url, instances: 2 } })),
) as [TestService, TestService];
// Two outages within a minute would be taken for one.
beforeEach(() => advance(2 * MINUTE));
// Redis is restored even after a failed test.
afterEach(async () => {
  redis.resume();
  await Promise.all(ways.map((way) => way.restore()));
});
afterAll(() => Promise.all(ways.map((way) => way.close())));

const advance = (milliseconds: number) => services.forEach(({ clock }) => clock.advance(milliseconds));

/** For each instance, true if it counts alone. */
const countingAlone = () => services.map(({ app }) => app.get(QuotaCounters).countsAlone);

/** Creates a client, with a caller for each instance. */
async function aClient(options: KeyOptions = {}) {
  const { key, keyId, client } = await services[0].issueKey(options);
  const { id: clientId } = await services[0].app.get(ClientsService).get(client);
  return { clientId, key, keyId, callers: services.map((service) => service.callerWith(key)) };
}

/** Cuts an instance off from Redis, and waits until it counts alone. */
async function loseRedis(instance: 0 | 1): Promise<void> {
  await ways[instance].refuse();
  await until(() => countingAlone()[instance]!);
}

/** Connects an instance to Redis again, and waits until it counts there. */
async function findRedis(instance: 0 | 1): Promise<void> {
  await ways[instance].restore();
  await until(() => !countingAlone()[instance]);
}

async function withoutRedis(work: () => Promise<unknown>): Promise<void> {
  await Promise.all([loseRedis(0), loseRedis(1)]);
  await work();
  await Promise.all([findRedis(0), findRedis(1)]);
}

async function statusesOf(callers: ApiCaller[]): Promise<number[]> {
  return Promise.all(callers.map(async (caller) => (await caller.get(COUNTED)).status));
}

/** Waits, in real time, until both instances answer with this status. */
async function bothAnswer(callers: ApiCaller[], status: number): Promise<void> {
  await until(async () => (await statusesOf(callers)).every((one) => one === status));
}

const quotas = () => services[0].app.get(QuotasService);

/** Writes the counts of both instances to the database. */
const flush = () => Promise.all(services.map(({ app }) => app.get(QuotaRecords).flush()));

/** Sends this many requests. @returns how many are allowed */
async function allowed(caller: ApiCaller, requests: number): Promise<number> {
  return (await statuses(caller, requests)).filter((status) => status === 200).length;
}

test('while Redis does not answer, a burst gets the share, nothing fails, who keeps within it is not refused, the health check says so, and both return to Redis by themselves', async () => {
  const [greedy, modest] = await Promise.all([1, 2].map(() => aClient(LIMITED)));
  const burst = (caller: ApiCaller, requests: number) =>
    statusesOf(Array.from({ length: requests }, () => caller));
  redis.pause();
  const [many, few] = await Promise.all([
    burst(greedy!.callers[0]!, SHARE + 8),
    burst(modest!.callers[0]!, SHARE / 3),
  ]);
  expect(tally(many)).toEqual({ 200: SHARE, 429: 8 });
  expect(new Set(few)).toEqual(new Set([200]));
  await until(() => countingAlone()[0]!);
  const ready = await fetch(`${services[0].url}/health/ready`);
  expect([ready.status, await ready.json()]).toMatchObject([
    200,
    { details: { limits: { degraded: true } } },
  ]);
  redis.resume();
  await until(() => !countingAlone().some(Boolean));
});

test('an instance that has lost Redis counts its share from what that last had left, the other one exactly, and its return starts no new minute', async () => {
  const { callers } = await aClient(LIMITED);
  const { callers: spending } = await aClient(LIMITED);
  const [here, there] = callers as [ApiCaller, ApiCaller];
  const together = [await allowed(here, 4), await allowed(there, 1), await allowed(spending[1]!, LIMIT)];
  expect(together).toEqual([4, 1, LIMIT]);
  await loseRedis(1);
  expect(countingAlone()).toEqual([false, true]);
  // Alone, the instance allows its share to a client that was not refused before, and nothing to one that has used up its minute.
  expect([await allowed(there, SHARE + 3), await allowed(spending[1]!, 1)]).toEqual([SHARE, 0]);
  expect(await allowed(here, LIMIT)).toBe(LIMIT - 5);
  await findRedis(1);
  expect(await allowed(there, 3)).toBe(0);
  const { callers: scarce } = await aClient(LIMITED);
  expect(await allowed(scarce[1]!, LIMIT - 2)).toBe(LIMIT - 2);
  await loseRedis(1);
  expect(await allowed(scarce[1]!, 3)).toBe(2);
  await findRedis(1);
});

test('repeated short outages of Redis give no client more than its daily limit', async () => {
  const { callers } = await aClient({ plan: 'enterprise', perMinute: 100_000, perDay: 100 });
  const { callers: others } = await aClient();
  const silence = async (silenced: ApiCaller[]): Promise<void> => {
    redis.pause();
    await statusesOf(silenced);
    redis.resume();
    await until(() => !countingAlone().some(Boolean));
    await statusesOf(others);
  };
  await silence(callers);
  let total = callers.length + (await allowed(callers[0]!, 44));
  await flush();
  advance(50_000);
  await silence(others);
  await withoutRedis(async () => {
    // Both instances read the saved count before either has saved what it allows alone.
    total += (await statusesOf(callers)).filter((status) => status === 200).length;
    for (const caller of callers) {
      while ((await caller.get(COUNTED)).status === 200) total += 1;
    }
  });
  // If Redis has counted the two requests that it answered too late, the total is 98. If they were lost with their connections, it is 100.
  expect([98, 100]).toContain(total);
});

test('a restarted Redis is empty, but the day and the bans are kept, and without Redis none is earned', async () => {
  const { callers } = await aClient({ plan: 'enterprise', perMinute: 1_000, perDay: 5 });
  expect(await allowed(callers[0]!, 6)).toBe(5);
  const { callers: before } = await aClient({ perMinute: 2, perDay: 1_000 });
  const { callers: during } = await aClient({ perMinute: 2, perDay: 1_000 });
  await statuses(before[0]!, 2);
  await earnBan(before[0]!, ...services);
  await flush();

  await redis.stop();
  await until(() => countingAlone().every(Boolean));
  await statuses(during[0]!, 2);
  advance(2_000);
  const refused = await call<ErrorBody>(during[0]!, 20);
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
  const ofShare =
    'The limit of requests per minute is reached. Try again in 58 seconds. For the moment, each instance of the service counts alone and allows its share.';
  expect(refused.at(-1)!.body.message).toBe(ofShare);
  await redis.start();
  await until(() => !countingAlone().some(Boolean));
  advance(2_000);
  expect(await statuses(callers[0]!, 1)).toEqual([429]);
  await bothAnswer(before, 403);
  expect(await statusesOf(during)).not.toContain(403);
});

test('a Redis that comes back with an older file gives nothing back: neither of the minute, nor of the day', async () => {
  const { callers: ofMinute } = await aClient(LIMITED);
  const { callers: ofDay } = await aClient({ plan: 'enterprise', perMinute: 1_000, perDay: LIMIT });
  const both = [ofMinute, ofDay] as [ApiCaller[], ApiCaller[]];
  const allow = (each: number) => Promise.all(both.flat().map((caller) => allowed(caller, each)));
  expect(await allow(2)).toEqual([2, 2, 2, 2]);
  await redis.call('SAVE');
  expect(await allow(3)).toEqual([3, 3, 3, 3]);
  await flush();
  await redis.stop();
  await until(() => countingAlone().every(Boolean));
  await redis.start();
  await until(() => !countingAlone().some(Boolean));
  const left = await Promise.all([allowed(ofMinute[0]!, LIMIT), allowed(ofDay[1]!, LIMIT)]);
  expect(left).toEqual([LIMIT - 10, LIMIT - 10]);
});

test('what the instances have allowed alone counts in Redis from their return on, so that outages in two minutes of a client that follow each other allow no more than two minutes of the plan', async () => {
  const { callers } = await aClient(LIMITED);
  const addresses = services.map((service) => service.anonymous());
  for (const [both, limit] of [
    [callers, LIMIT],
    [addresses, ADDRESS_LIMITS.perMinute],
  ] as const) {
    const passed: number[] = [];
    const send = async (requests: number) => {
      const answers = await Promise.all(both.map((caller) => statuses(caller, requests)));
      passed.push(answers.flat().filter((status) => status !== 429).length);
    };
    for (const pauseMs of [50_000, 0]) {
      // Both instances learn of the minute, which begins now, before they count alone.
      await send(1);
      advance(pauseMs);
      await withoutRedis(() => send(limit / 2 + 1));
      await send(1);
      advance(11_000);
    }
    expect(passed).toEqual([2, limit, 0, 2, limit, 0]);
  }
});

test('a ban by an operator says that it is one; a ban, an unban and a reset while Redis is away apply when it is back', async () => {
  const banned = await aClient();
  const unbanned = await aClient();
  const reset = await aClient({ plan: 'enterprise', perMinute: 100, perDay: 100 });
  const end = await quotas().ban(unbanned.keyId, 72 * HOUR);
  await bothAnswer(unbanned.callers, 403);
  for (const caller of unbanned.callers) {
    const refused = await caller.get<ErrorBody>(COUNTED);
    const expected = { remaining: 0, reset: end.getTime() / 1_000, retryAfter: (72 * HOUR) / 1_000 };
    expect(limitsIn(refused)).toMatchObject(expected);
    expect(refused.body.message).toMatch(/^An operator of this service has banned the API key/);
  }
  await bothAnswer(banned.callers, 200);
  await bothAnswer(reset.callers, 200);
  advance(1_000);
  await withoutRedis(async () => {
    await quotas().ban(banned.keyId, HOUR);
    await quotas().unban(unbanned.keyId);
    await quotas().reset(reset.clientId);
  });
  await bothAnswer(banned.callers, 403);
  await bothAnswer(unbanned.callers, 200);
  await until(async () => (await getRateLimit(reset.callers[0]!)).day.remaining === 100);
});

test('two stores on one Redis share neither counts nor bans, also if one was made from a dump of the other', async () => {
  const strict = { perMinute: 2, perDay: 1_000 };
  const first = await aClient(strict);
  const database = await createTestDatabase();
  // The next client and key of the second store get the same ids as those of the first store.
  await database.pool.query(
    `UPDATE store_identity SET id = gen_random_uuid();
     SELECT setval(pg_get_serial_sequence('clients', 'id'), ${first.clientId}, false),
            setval(pg_get_serial_sequence('api_keys', 'id'), ${first.keyId}, false)`,
  );
  const service = await startService({ database, settings: { redisUrl: redis.url } });
  try {
    const second = await service.issueKey(strict);
    expect(second.keyId).toBe(first.keyId);
    const callers = [first.callers[0]!, service.callerWith(second.key)] as const;
    for (const caller of callers) expect(await statuses(caller, 3)).toEqual([200, 200, 429]);
    await earnBan(callers[0], ...services, service);
    expect(await statuses(callers[1], 1)).toEqual([429]);
  } finally {
    await service.close();
    await database.drop();
  }
});

test('a key that replaces a banned one inherits the ban', async () => {
  const { keyId, callers } = await aClient();
  await quotas().ban(keyId, 600_000);
  const rotated = await services[0].app.get(ClientsService).rotateKey(keyId, 0);
  const answer = await callers[1]!.with({ 'X-API-Key': rotated.key }).get<ErrorBody>(COUNTED);
  expect([answer.status, answer.body.code]).toEqual([403, 'api_key_banned']);
});

test('a reset restarts both windows on both instances, once', async () => {
  const { clientId, callers } = await aClient({ plan: 'enterprise', perMinute: 5, perDay: 8 });
  for (const caller of callers) await statuses(caller, 6);
  // A reset has the time of the clock. A second reset with the same time would have no effect.
  advance(1_000);
  await quotas().reset(clientId);
  const isFull = { minute: { remaining: 5 }, day: { remaining: 8 } };
  for (const caller of callers) {
    await until(async () => (await getRateLimit(caller)).minute.remaining === 5);
    expect(await getRateLimit(caller)).toMatchObject(isFull);
  }
  const both = (await Promise.all(callers.map((caller) => statuses(caller, 6)))).flat();
  expect(both.filter((status) => status === 200)).toHaveLength(5);
});

describe('an earned ban', () => {
  const BAN_MS = 2 * MINUTE;
  const entries = async (keyId: number) =>
    (await auditEntries(services[0])).filter(
      (entry) => entry.keyId === keyId && entry.action === 'key.banned',
    );

  /** Sends requests until the caller is banned, and then two more. */
  async function beBanned(caller: ApiCaller): Promise<void> {
    await caller.get(COUNTED);
    await earnBan(caller, ...services);
    expect(await statuses(caller, 2)).toEqual([403, 403]);
  }

  test('applies on the other instance, and is recorded once, with the key as its actor and the time it was earned', async () => {
    const { key, keyId, callers } = await aClient({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
    await callers[1]!.get('/rate-limit');
    await beBanned(callers[0]!);
    const at = new Date(services[0].clock.now());
    await flush();
    await until(async () => (await callers[1]!.get(COUNTED)).status === 403);
    expect(new Set(await statuses(callers[1]!, 12))).toEqual(new Set([403]));
    await flush();
    const bannedUntil = new Date(at.getTime() + BAN_MS).toISOString();
    const actor = { kind: 'key', name: String(keyId) };
    const first = { at, actor, details: { level: 1, bannedUntil } };
    expect(await entries(keyId)).toMatchObject([first]);

    advance(BAN_MS);
    // In real time, an instance would have read the key again, with its ban, long before the ban ends.
    const raw = { rawHeaders: ['X-API-Key', key] };
    const request = { raw, routeOptions: { config: {} } } as FastifyRequest;
    await services[0].app.get(Authenticator).confirm(request);
    await beBanned(callers[0]!);
    await flush();
    expect(await entries(keyId)).toMatchObject([{ details: { level: 2 } }, first]);
  });

  test('is written together with its audit entry, and all that wait are written', async () => {
    const { keyId, callers } = await aClient({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
    const known = async () => {
      const { pool } = services[0].database;
      return (await pool.query('SELECT FROM api_keys WHERE id = $1 AND ban_level > 0', [keyId])).rowCount;
    };
    await whileTableFails(services[0], 'audit_entries', async () => {
      await beBanned(callers[0]!);
      await flush();
      expect(await known()).toBe(0);
      advance(BAN_MS);
      await beBanned(callers[0]!);
    });
    await flush();
    expect(await known()).toBe(1);
    expect((await entries(keyId)).map(({ details }) => details.level)).toEqual([2, 1]);
  });
});
