import { once } from 'node:events';
import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { ManualClock } from '#libs/clock';
import { newBanState, NOTHING_TAKEN } from '../../../../src/modules/quotas/rules/decision';
import type { Limits } from '../../../../src/modules/quotas/rules/limits';
import { MemoryQuotaStore } from '../../../../src/modules/quotas/stores/memory-quota-store';
import type { QuotaRecords } from '../../../../src/modules/quotas/stores/quota-records';
import type { ClientSubject, Standing, Subject } from '../../../../src/modules/quotas/stores/quota-store';
import { connectRedis } from '../../../../src/modules/quotas/stores/redis-connection';
import { RedisQuotaStore } from '../../../../src/modules/quotas/stores/redis-quota-store';
import {
  RedisUnavailableError,
  ScriptCalls,
  type ScriptStep,
} from '../../../../src/modules/quotas/stores/script-calls';
import { until } from '../../../support/eventually';
import { onClock } from '../../../support/redis-clock';
import { RedisServer } from '../../../support/redis-server';
import { TcpProxy } from '../../../support/tcp-proxy';

/** Whether Redis answers in time is not the subject where this is used. */
const PATIENCE_MS = 60_000;

const START = Date.UTC(2026, 10, 21, 23, 58);

const clock = new ManualClock(START);
const saveBan = jest.fn();
/** A database that remembers nothing: every history starts anew. */
const FORGETFUL = {
  count: () => undefined,
  saveBan,
  hasUnsavedBan: () => false,
  read: () => Promise.resolve({ day: 0, requests: 0, resetAt: 0, ban: newBanState() }),
} as unknown as QuotaRecords;

let server: RedisServer;
/** Sees the time of `clock`. */
let client: Redis;
let clients = 0;

beforeAll(async () => {
  server = await RedisServer.start();
  client = onClock(new Redis(server.url), clock);
});
afterAll(async () => {
  client.disconnect();
  await server.close();
});

/** The ends of a series' notice, windows, bans and forgiveness, and the moments around them. */
const MOMENTS = [1, 60, 120, 600, 3_600, 86_400, 259_200, 90_000_000 / 1000]
  .flatMap((seconds) => [seconds * 1000 - 1, seconds * 1000, seconds * 1000 + 1])
  .concat(-3_600_000, -3_600_001);

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
  { weight: 1, arbitrary: fc.record({ do: fc.constant('look' as const), gap: fc.nat(100_000) }) },
);

const limits = fc.record<Limits>({
  perMinute: fc.integer({ min: 1, max: 4 }),
  perDay: fc.option(fc.integer({ min: 1, max: 12 }), { nil: null }),
});

const history = fc.record({ limits, steps: fc.array(step, { maxLength: 25 }) });
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

function aSubject(limits: Limits): Subject {
  clients += 1;
  return limits.perDay === null
    ? { kind: 'address', address: `10.0.0.${clients}`, limits }
    : { kind: 'client', clientId: clients, keyId: clients, limits };
}

/** Runs the steps in both stores and holds their answers against each other. */
async function compare(memory: MemoryQuotaStore, redis: RedisQuotaStore, run: History) {
  const subject = aSubject(run.limits);
  let lastTaken = NOTHING_TAKEN;
  const refundLast = async () => {
    if (lastTaken !== NOTHING_TAKEN) {
      const receipt = { takenAt: lastTaken };
      expect(await redis.refund(subject, receipt)).toEqual(await memory.refund(subject, receipt));
      lastTaken = NOTHING_TAKEN;
    }
  };
  for (const one of run.steps) {
    clock.advance(one.gap);
    if (one.do === 'look' || one.do === 'refund') {
      // Also before a request is refunded: Redis leaves a window that is over at each step, the rules when they look.
      expect(await redis.look(subject)).toEqual(await memory.look(subject));
    }
    if (one.do === 'refund') {
      await refundLast();
    }
    for (let time = 0; 'times' in one && time < one.times; time += 1) {
      const expected = await memory.take(subject);
      expect(await redis.take(subject)).toEqual(expected);
      lastTaken = expected.takenAt === NOTHING_TAKEN ? lastTaken : expected.takenAt;
      if (one.do === 'refunded') {
        await refundLast();
      }
    }
  }
}

test('Redis and this process decide every history alike', async () => {
  const redis = new RedisQuotaStore(client, FORGETFUL, PATIENCE_MS);
  await fc.assert(
    fc.asyncProperty(history, async (run) => {
      clock.set(START);
      const memory = new MemoryQuotaStore(FORGETFUL, clock);
      try {
        await compare(memory, redis, run);
      } finally {
        memory.onModuleDestroy();
      }
    }),
    { numRuns: 200 },
  );
});

describe('a Redis that is late', () => {
  /** After this the caller gives up; long enough for Redis to reply before on a busy machine. */
  const BUDGET_MS = 500;

  let store: RedisQuotaStore;
  beforeAll(() => (store = new RedisQuotaStore(client, FORGETFUL, BUDGET_MS)));

  function aClient(): ClientSubject {
    clients += 1;
    return { kind: 'client', clientId: clients, keyId: clients, limits: { perMinute: 2, perDay: 50 } };
  }

  /** Sends requests to a Redis that runs them only when all of their callers have given up. */
  async function takeTooLate(subject: ClientSubject, requests: number): Promise<Standing> {
    server.pause();
    const late = await Promise.allSettled(Array.from({ length: requests }, () => store.take(subject)));
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set(['rejected']));
    server.resume();
    // On the same connection, so this is answered after the others were run.
    let standing: Standing | undefined;
    await until(async () => {
      standing = await store.look(subject).catch(() => undefined);
      return standing !== undefined;
    });
    return standing!;
  }

  test('a request that Redis runs after its caller gave up is not counted', async () => {
    const subject = aClient();
    await store.take(subject);
    const { standings } = await takeTooLate(subject, 5);
    expect(standings.map(({ remaining }) => remaining)).toEqual([1, 49]);
  });

  test('nor is a refusal, and it bans nobody', async () => {
    const subject = aClient();
    for (let request = 0; request < 3; request += 1) {
      await store.take(subject);
    }
    clock.advance(1_000);
    await store.take(subject);
    saveBan.mockClear();
    const { bans } = await takeTooLate(subject, 20);
    expect(bans).toMatchObject({ refusals: 1, level: 0, bannedUntil: 0 });
    expect(saveBan).not.toHaveBeenCalled();
  });
});

describe('calls of the script', () => {
  let plain: Redis;
  let calls: ScriptCalls;

  beforeAll(async () => {
    plain = new Redis(server.url);
    calls = new ScriptCalls(plain, PATIENCE_MS);
    // The first call brings the script along, and counts as another command.
    await calls.run(aTakeOf('somebody'));
    await calls.run(aTakeOf('somebody'));
  });
  afterAll(() => plain.disconnect());

  function aTakeOf(address: string): ScriptStep {
    return {
      name: 'take',
      keys: [`petstore:{address:${address}}:counts`],
      perMinute: 60,
      perDay: -1,
      takenAt: 0,
      stored: [],
    };
  }

  async function callsOfTheScript(): Promise<number> {
    const statistics = await plain.info('commandstats');
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(statistics)?.[1]);
  }

  it('all steps of one turn of the event loop are one call, in order', async () => {
    const before = await callsOfTheScript();
    const replies = await Promise.all(Array.from({ length: 5 }, () => calls.run(aTakeOf('one'))));
    expect(replies.map((reply) => reply[5])).toEqual([1, 2, 3, 4, 5]);
    expect(await callsOfTheScript()).toBe(before + 1);
  });

  it('no call has more than 100 steps', async () => {
    const before = await callsOfTheScript();
    const replies = await Promise.all(Array.from({ length: 201 }, (_, i) => calls.run(aTakeOf(`many ${i}`))));
    expect(new Set(replies.map((reply) => `${reply[0]} ${reply[5]}`))).toEqual(new Set(['allowed 1']));
    expect(await callsOfTheScript()).toBe(before + 3);
  });

  it('a step that fails does not affect the others', async () => {
    await plain.lpush('petstore:{address:broken}:counts', 'no string');
    const [left, broken, right] = await Promise.allSettled(
      ['left', 'broken', 'right'].map((address) => calls.run(aTakeOf(address))),
    );
    expect(left).toMatchObject({ status: 'fulfilled', value: { 0: 'allowed', 5: 1 } });
    expect(right).toMatchObject({ status: 'fulfilled', value: { 0: 'allowed', 5: 1 } });
    expect(broken).toMatchObject({
      status: 'rejected',
      reason: expect.any(RedisUnavailableError) as unknown,
    });
    const { cause } = (broken as PromiseRejectedResult).reason as Error;
    expect(String(cause)).toContain('WRONGTYPE');
  });
});

describe('a busy process does not mistake its own delay for a silence of Redis', () => {
  const SUBJECT: Subject = {
    kind: 'address',
    address: '192.0.2.1',
    limits: { perMinute: 100, perDay: null },
  };
  /** So long that Redis itself keeps to it on any machine. */
  const BUDGET_MS = 1_000;
  /** More than the time that one answer of Redis may take. */
  const BUSY_MS = 1_400;

  let proxy: TcpProxy;
  const connections: Redis[] = [];

  beforeAll(async () => (proxy = await TcpProxy.start(server.url)));
  afterAll(async () => {
    connections.forEach((connection) => connection.disconnect());
    await proxy.close();
  });

  async function connectedTo(url: string): Promise<RedisQuotaStore> {
    const connection = connectRedis(url) as Redis;
    connections.push(connection);
    await once(connection, 'ready');
    const store = new RedisQuotaStore(connection, FORGETFUL, BUDGET_MS);
    await store.probe();
    return store;
  }

  /** Work of other requests, which nothing interrupts. */
  function beBusy(): void {
    const end = performance.now() + BUSY_MS;
    while (performance.now() < end);
  }

  const aTurn = () => new Promise((resolve) => setImmediate(resolve));

  test('while the response arrived', async () => {
    const store = await connectedTo(server.url);
    const taken = store.take(SUBJECT);
    await aTurn();
    beBusy();
    expect(await taken).toMatchObject({ outcome: 'allowed' });
  });

  test('before the request was sent', async () => {
    // The way through the proxy takes some turns, so the answer cannot be there when the budget is first looked at.
    const store = await connectedTo(proxy.url);
    const taken = store.take(SUBJECT);
    beBusy();
    expect(await taken).toMatchObject({ outcome: 'allowed' });
  });
});
