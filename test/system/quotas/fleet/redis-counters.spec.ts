import * as fc from 'fast-check';
import { ManualClock } from '../../../support/manual-clock';
import type { QuotaStatus } from '../../../../src/modules/quotas/rules/decision';
import { type Limits, newWindows } from '../../../../src/modules/quotas/rules/limits';
import { MemoryCounters } from '../../../../src/modules/quotas/counters/memory-counters';
import type { QuotaRecords } from '../../../../src/modules/quotas/counters/quota-records';
import type { LimitedCaller, QuotaCounters } from '../../../../src/modules/quotas/counters/quota-counters';
import { RedisCounters } from '../../../../src/modules/quotas/counters/redis-counters';
import { patient, RedisOnClock } from '../../../support/redis-clock';
import { RedisServer } from '../../../support/redis-server';

const START = Date.UTC(2026, 10, 21, 23, 58);

const clock = new ManualClock(START);
/** A database that remembers nothing: every history starts anew. */
const FORGETFUL = {
  count: () => undefined,
  saveBan: () => undefined,
  flushSoon: () => undefined,
  storeId: () => Promise.resolve('store'),
  windowsOf: () => Promise.resolve(newWindows()),
} as unknown as QuotaRecords;

let server: RedisServer;
let connection: RedisOnClock;
let clients = 0;

beforeAll(async () => {
  server = await RedisServer.start();
  connection = new RedisOnClock(patient(server.url), clock);
});
beforeEach(() => connection.open());
afterAll(async () => {
  connection.close();
  await server.close();
});

/** The ends of a series and of its notice, of windows, bans and forgiveness, and the moments around them. */
const MOMENTS = [1, 60, 120, 600, 3_600, 86_400, 259_200, 90_000_000 / 1000]
  .flatMap((seconds) => [seconds * 1000 - 1, seconds * 1000, seconds * 1000 + 1])
  .concat(-3_600_000);

/** A pause, and then some requests in a row: enough of them to be banned, now and then. */
function requests(gap: fc.Arbitrary<number>, times = fc.integer({ min: 1, max: 16 })) {
  return fc.record({ do: fc.constant('take' as const), gap, times });
}

const step = fc.oneof(
  { weight: 4, arbitrary: requests(fc.nat(400)) },
  { weight: 3, arbitrary: requests(fc.nat(200_000)) },
  { weight: 4, arbitrary: requests(fc.integer({ min: 900, max: 1_200 }), fc.integer({ min: 4, max: 16 })) },
  { weight: 2, arbitrary: requests(fc.integer({ min: -7_200_000, max: 300_000_000 })) },
  { weight: 6, arbitrary: requests(fc.constantFrom(...MOMENTS), fc.constant(16)) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refund' as const), gap: fc.nat(1_000) }) },
  // Requests that are answered 304: each is refunded before the next one, until the windows refund no more.
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refunded' as const),
      gap: fc.oneof(fc.nat(400), fc.nat(90_000)),
      times: fc.integer({ min: 1, max: 10 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('read' as const), gap: fc.nat(100_000) }) },
  // What an operator changes, and what is read late and so has an older stamp.
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('ban' as const),
      gap: fc.nat(1_000),
      level: fc.nat(5),
      forMs: fc.nat(200_000),
      changedAt: fc.nat(20),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const), gap: fc.nat(1_000) }) },
);

const limits = fc.record<Limits>({
  perMinute: fc.integer({ min: 1, max: 4 }),
  perDay: fc.option(fc.integer({ min: 1, max: 12 }), { nil: null }),
});

const history = fc.record({ limits, steps: fc.array(step, { maxLength: 25 }) });
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

/** A minute that was over when it was looked at, before the clock was set back into it. */
const LOOKED_AT_AFTER_ITS_MINUTE: History = {
  limits: { perMinute: 1, perDay: null },
  steps: [
    { do: 'take', gap: 0, times: 1 },
    { do: 'read', gap: 60_000 },
    { do: 'take', gap: -3_600_000, times: 2 },
  ],
};

const NEVER_BANNED = { level: 0, bannedUntil: 0, byOperator: false, changedAt: 0 };

/** Of limits without a day an address, otherwise a client. */
function aClient(limits: Limits): LimitedCaller {
  clients += 1;
  const key = { id: clients, clientId: clients, ban: NEVER_BANNED, resetAt: 0 };
  return { key: limits.perDay === null ? null : key, tracker: String(clients), limits };
}

/** Runs the steps in memory and in Redis, and holds their answers against each other. */
async function compare(memory: QuotaCounters, redis: QuotaCounters, run: History) {
  const client = aClient(run.limits);
  let lastTaken: number | undefined;
  // Redis has times of its own, also for windows that never started.
  const expectAlike = (one: QuotaStatus, other: QuotaStatus) =>
    expect({ ...one, takenAt: other.takenAt, counted: other.counted }).toEqual(other);
  const refundLast = async () => {
    if (lastTaken !== undefined) {
      const receipt = { takenAt: lastTaken + connection.aheadMs, isLocal: false };
      const expected = await memory.refund(client, { takenAt: lastTaken, isLocal: true });
      expectAlike(await redis.refund(client, receipt), expected);
      lastTaken = undefined;
    }
  };
  for (const one of run.steps) {
    clock.advance(one.gap);
    if (one.do === 'ban' && client.key !== null) {
      const { level, forMs, changedAt } = one;
      client.key.ban = { level, bannedUntil: clock.now() + forMs, byOperator: true, changedAt };
    }
    if (one.do === 'reset' && client.key !== null) {
      client.key.resetAt += 1;
    }
    if (one.do === 'read' || one.do === 'refund') {
      expectAlike(await redis.read(client), await memory.read(client));
    }
    if (one.do === 'refund') {
      await refundLast();
    }
    for (let time = 0; 'times' in one && time < one.times; time += 1) {
      const expected = await memory.take(client);
      const decided = await redis.take(client);
      expectAlike(decided, expected);
      if (expected.outcome === 'allowed') {
        expect(decided.takenAt).toBe(expected.takenAt + connection.aheadMs);
        lastTaken = expected.takenAt;
      }
      if (one.do === 'refunded') {
        await refundLast();
      }
    }
  }
}

test('Redis and this process decide every history alike, whether the clock of Redis agrees with ours or not', async () => {
  const memory = new MemoryCounters(FORGETFUL, clock);
  const shared = new RedisCounters(connection, FORGETFUL, clock, 1);
  try {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0, -45_678, 98_765), history, async (aheadMs, run) => {
        connection.aheadMs = aheadMs;
        clock.set(START);
        await compare(memory, shared, run);
      }),
      { numRuns: 60, examples: [[0, LOOKED_AT_AFTER_ITS_MINUTE]] },
    );
  } finally {
    memory.onModuleDestroy();
    await shared.onApplicationShutdown();
  }
});

test('what was allowed alone because Redis was late counts in Redis and in the next outage of that minute, and not in the next minute', async () => {
  const counters = new RedisCounters(connection, FORGETFUL, clock, 1);
  const client = aClient({ perMinute: 60, perDay: 100 });
  const takeWithoutRedis = async () => {
    server.pause();
    const { isLocal, windows } = await counters.take(client);
    server.resume();
    await counters.onModuleInit();
    return [isLocal, counters.isDegraded, windows[0]!.remaining];
  };
  try {
    await counters.onModuleInit();
    expect(await takeWithoutRedis()).toEqual([true, false, 59]);
    // Redis has also counted the request that it answered too late.
    expect(await takeWithoutRedis()).toEqual([true, false, 57]);
    clock.advance(60_000);
    expect(await takeWithoutRedis()).toEqual([true, false, 59]);
  } finally {
    await counters.onApplicationShutdown();
  }
});
