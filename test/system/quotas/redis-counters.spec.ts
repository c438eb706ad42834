import { setImmediate } from 'node:timers/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Logger } from '@nestjs/common';
import * as fc from 'fast-check';
import { until } from '../../support/eventually';
import { aKey } from '../../support/limits';
import { tally } from '../../support/tally';
import { ManualClock } from '../../support/manual-clock';
import { redisStatus } from '../../../src/modules/quotas';
import { anonymousClient } from '../../../src/modules/quotas/request-limiter';
import type { Decision } from '../../../src/modules/quotas/rules/decision';
import { newWindows, type Limits } from '../../../src/modules/quotas/rules/limits';
import type { QuotaRecords } from '../../../src/modules/quotas/counters/quota-records';
import { AloneCounters } from '../../../src/modules/quotas/counters/alone-counters';
import { MemoryCounters } from '../../../src/modules/quotas/counters/memory-counters';
import type { LimitSubject, QuotaCounters } from '../../../src/modules/quotas/counters/quota-counters';
import { RedisCounters } from '../../../src/modules/quotas/counters/redis-counters';
import { patient, RedisOnClock } from '../../support/redis-clock';
import { RedisServer, useRedis } from '../../support/redis-server';
import { freePort } from '../../support/ports';
import { TcpProxy } from '../../support/tcp-proxy';

/** Stands in for the records in the database. It keeps nothing, so that every history begins without counts. */
const FORGETFUL = {
  count: () => undefined,
  saveBan: () => undefined,
  flushSoon: () => undefined,
  storeId: () => Promise.resolve('store'),
  windowsOf: () => Promise.resolve(newWindows()),
} as unknown as QuotaRecords;

const started: RedisCounters[] = [];

/** Starts counters with a connection and probes of their own, like those of an instance of the service. */
async function startCounters(url: string, clock: ManualClock, instances = 2): Promise<RedisCounters> {
  Logger.overrideLogger(false);
  const alone = new AloneCounters(FORGETFUL, clock, instances);
  const counters = new RedisCounters(new RedisOnClock(url, clock), alone, FORGETFUL, clock);
  started.push(counters);
  await counters.onModuleInit();
  return counters;
}

let clients = 0;

/** A new address if the limits have none per day, and otherwise a new client with a key. */
function aClient(limits: Limits): LimitSubject {
  clients += 1;
  return { key: limits.perDay === null ? null : aKey(clients, clients), tracker: String(clients), limits };
}

const START = Date.UTC(2026, 10, 21, 23, 58);

const clock = new ManualClock(START);

const server = useRedis();
afterEach(() => Promise.all(started.splice(0).map((counters) => counters.onApplicationShutdown())));

/** Pauses that end a series of refusals, a window, a ban or its level, each also a millisecond shorter and longer. */
const MOMENTS = [1, 60, 120, 600, 3_600, 86_400, 259_200, 90_000_000 / 1000]
  .flatMap((seconds) => [seconds * 1000 - 1, seconds * 1000, seconds * 1000 + 1])
  .concat(-3_600_000);

/** A step with a pause, and then several requests. Sometimes they are enough for a ban. */
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
  // Each of these requests is refunded before the next one, like a request that is answered 304, until the windows refund no more.
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refunded' as const),
      gap: fc.oneof(fc.nat(400), fc.nat(90_000)),
      times: fc.integer({ min: 1, max: 10 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('read' as const), gap: fc.nat(100_000) }) },
  // Bans by an operator. A ban may have an older time of change, as if it was read late.
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

/** The minute is over when the client reads its limits. Then the clock is set back to before the end of the minute. */
const LOOKED_AT_AFTER_ITS_MINUTE: History = {
  limits: { perMinute: 1, perDay: null },
  steps: [
    { do: 'take', gap: 0, times: 1 },
    { do: 'read', gap: 60_000 },
    { do: 'take', gap: -3_600_000, times: 2 },
  ],
};

/**
 * Runs the steps in memory and in Redis, and expects equal answers.
 * @param aheadMs by how much the clock of Redis is ahead
 */
async function compare(memory: QuotaCounters, redis: QuotaCounters, aheadMs: number, run: History) {
  const client = aClient(run.limits);
  let lastTaken: number | undefined;
  // Redis gives times of its own clock, and gives them also for windows that have not begun, so these are not compared.
  const expectAlike = (one: Decision, other: Decision) =>
    expect({ ...one, takenAt: other.takenAt, counted: other.counted }).toEqual(other);
  const refundLast = async () => {
    if (lastTaken !== undefined) {
      const receipt = { takenAt: lastTaken + aheadMs, isCountedAlone: false };
      const expected = await memory.refund(client, { takenAt: lastTaken, isCountedAlone: true });
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
        expect(decided.takenAt).toBe(expected.takenAt + aheadMs);
        lastTaken = expected.takenAt;
      }
      if (one.do === 'refunded') {
        await refundLast();
      }
    }
  }
}

test('Redis and this process decide every history alike, whether the clock of Redis agrees with ours or not', async () => {
  const connection = new RedisOnClock(patient(server.url), clock);
  await connection.open();
  const memory = new MemoryCounters(FORGETFUL, clock);
  const alone = new AloneCounters(FORGETFUL, clock, 1);
  const shared = new RedisCounters(connection, alone, FORGETFUL, clock);
  try {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0, -45_678, 98_765), history, async (aheadMs, run) => {
        connection.aheadMs = aheadMs;
        clock.set(START);
        await compare(memory, shared, aheadMs, run);
      }),
      { numRuns: 30, examples: [[0, LOOKED_AT_AFTER_ITS_MINUTE]] },
    );
  } finally {
    await shared.onApplicationShutdown();
  }
});

test('what was allowed alone because Redis was late counts in Redis and in the next outage of that minute, and not in the next minute', async () => {
  const counters = await startCounters(patient(server.url), clock, 1);
  const client = aClient({ perMinute: 60, perDay: 100 });
  const takeWithoutRedis = async () => {
    server.pause();
    const { isCountedAlone, statuses } = await counters.take(client);
    server.resume();
    await counters.onModuleInit();
    return [isCountedAlone, counters.countsAlone, statuses[0]!.remaining];
  };
  expect(await takeWithoutRedis()).toEqual([true, false, 59]);
  // Redis has also counted the previous request, which it answered too late.
  expect(await takeWithoutRedis()).toEqual([true, false, 57]);
  clock.advance(60_000);
  expect(await takeWithoutRedis()).toEqual([true, false, 59]);
});

const LIMITS = { perMinute: 60, perDay: 100 };
const remaining = async (counters: RedisCounters, client: LimitSubject) =>
  (await counters.take(client)).statuses[0]!.remaining;

test('a connection that falls silent, but does not end, is replaced', async () => {
  const way = await TcpProxy.start(server.url);
  const counters = await startCounters(patient(way.url), clock);
  const client = aClient(LIMITS);
  expect(await remaining(counters, client)).toBe(59);
  way.fallSilent(false);
  await until(() => counters.countsAlone);
  await until(() => !counters.countsAlone);
  expect(await remaining(counters, client)).toBe(58);
  await way.close();
});

test('a connection that leads to what is a replica now is replaced', async () => {
  const way = await TcpProxy.start(server.url);
  const counters = await startCounters(patient(way.url), clock);
  const client = aClient(LIMITS);
  expect(await remaining(counters, client)).toBe(59);
  const next = await RedisServer.start();
  await next.call('REPLICAOF', '127.0.0.1', server.port);
  await until(async () => String(await next.call('INFO', 'replication')).includes('master_link_status:up'));
  await next.call('REPLICAOF', 'NO', 'ONE');
  await server.call('REPLICAOF', '127.0.0.1', next.port);
  // New connections reach the new server, as if its name was moved. Connections to the old server stay.
  way.leadTo(next.url);
  await until(() => counters.countsAlone);
  await until(() => !counters.countsAlone);
  expect(await remaining(counters, client)).toBe(58);
  await server.call('REPLICAOF', 'NO', 'ONE');
  await way.close();
  await next.close();
});

test('an event loop that is busy for longer than Redis may take is no outage', async () => {
  const longerThanRedisMayTakeMs = 3_000;
  const counters = await startCounters(patient(server.url), clock);
  const taken: Promise<Decision>[] = [];
  // When the event loop becomes busy, some requests are not yet sent, others are sent, and others are answered.
  for (let turn = 0; turn < 4; turn += 1) {
    if (turn > 0) await setImmediate();
    taken.push(counters.take(anonymousClient(`192.0.2.${turn}`)));
  }
  // This blocks the event loop without using the processor.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, longerThanRedisMayTakeMs);
  const answers = (await Promise.all(taken)).map(({ isCountedAlone, statuses }) => [
    isCountedAlone,
    statuses[0]!.remaining,
  ]);
  expect(answers).toEqual(taken.map(() => [false, 59]));
  expect(counters.countsAlone).toBe(false);
});

test('who only looks leaves nothing in Redis', async () => {
  const counters = await startCounters(patient(server.url), clock);
  await counters.read(anonymousClient('198.51.100.7'));
  expect(await server.call('KEYS', '*198.51.100.7*')).toEqual([]);
});

test('a user of Redis who may only run scripts is enough', async () => {
  const rights = ['resetkeys', '~petstore:*', '-@all', '+@read', '+@write', '+@scripting', '+time', '+ping'];
  await server.call('ACL', 'SETUSER', 'shop', 'on', '>secret', ...rights);
  const counters = await startCounters(patient(server.url.replace('//', '//shop:secret@')), clock);
  expect((await counters.take(anonymousClient('198.51.100.8'))).isCountedAlone).toBe(false);
  expect(counters.countsAlone).toBe(false);
});

test('without a Redis that answers, or with one that refuses the database, an instance starts and counts alone: the first database may be that of another store', async () => {
  const refusing = `${server.url}/99`;
  for (const url of ['redis://127.0.0.1:1', refusing]) {
    const counters = await startCounters(patient(url), clock);
    expect((await counters.take(anonymousClient('198.51.100.9'))).isCountedAlone).toBe(true);
    expect(counters.countsAlone).toBe(true);
  }
  expect((await redisStatus(refusing)).reason).toMatch('DB index is out of range');
});

describe('In a cluster', () => {
  const LIMIT = 60;
  /** The part of the limit that each of the two instances may use alone. */
  const SHARE = 30;

  const NODES = 3;
  const SLOTS = 16_384;
  /** If a node is silent for so long, the other nodes take it for dead. */
  const NODE_TIMEOUT_MS = 3_000;

  const clock = new ManualClock();
  /** A real Redis Cluster of masters without replicas. */
  const nodes: RedisServer[] = [];

  beforeAll(async () => {
    while (nodes.length < NODES) {
      const ports = ['--cluster-port', String(await freePort())];
      const timeout = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
      nodes.push(await RedisServer.start(['--cluster-enabled', 'yes', ...ports, ...timeout]));
    }
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
    await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
    await untilWhole();
  });
  afterAll(() => Promise.all(nodes.map((node) => node.close())));

  /** Waits until every node serves, because the others refuse all requests for some seconds after a node is back. */
  async function untilWhole(): Promise<void> {
    for (const node of nodes) {
      await until(async () => String(await node.call('CLUSTER', 'INFO')).includes('cluster_state:ok'));
    }
  }

  /** The ids of a node's connections. */
  async function connectionsOf(node: RedisServer): Promise<string[]> {
    const list = await node.call('CLIENT', 'LIST');
    return [...String(list).matchAll(/^id=(\d+)/gm)].map(([, id]) => id!);
  }

  /** Starts the counters of two instances of the service. */
  const startPair = (url: string) => Promise.all([startCounters(url, clock), startCounters(url, clock)]);

  /** Creates a client whose counts this node holds. */
  async function aClientOf(node: RedisServer): Promise<LimitSubject> {
    for (;;) {
      const client = aClient({ perMinute: LIMIT, perDay: 1_000 });
      const slot = Number(await node.call('CLUSTER', 'KEYSLOT', `petstore:{${client.tracker}}:counts`));
      if (nodes[Math.floor((slot * NODES) / SLOTS)] === node) return client;
    }
  }

  /** Sends this many requests of the client to each instance, all at once. @returns how often each outcome occurs */
  async function outcomes(pair: RedisCounters[], client: LimitSubject, requests: number) {
    const taken = pair.flatMap((counters) => Array.from({ length: requests }, () => counters.take(client)));
    return tally((await Promise.all(taken)).map(({ outcome }) => outcome));
  }

  async function expectExact(pair: RedisCounters[], client: LimitSubject): Promise<void> {
    expect(await outcomes(pair, client, SHARE + 4)).toEqual({ allowed: LIMIT, limited: 8 });
  }

  test('while a node of a cluster is silent, the connections to the cluster are replaced', async () => {
    const [node, , silent] = nodes as [RedisServer, RedisServer, RedisServer];
    const others = await connectionsOf(node);
    const pair = await startPair(patient(nodes.map(({ url }) => url).join()));
    const before = (await connectionsOf(node)).filter((id) => !others.includes(id));
    expect(before.length).toBeGreaterThan(1);
    silent.pause();
    await until(async () => !(await connectionsOf(node)).some((id) => before.includes(id)));
    await until(() => pair.every(({ countsAlone }) => countsAlone));
    silent.resume();
    await untilWhole();
    await until(() => !pair.some(({ countsAlone }) => countsAlone));
    await expectExact(pair, await aClientOf(silent));
  });

  test('two instances count exactly on every node, their shares while the node of a client is down, and together again afterwards', async () => {
    // The instances get the URL of one node, and find the others by themselves.
    const pair = await startPair(patient(nodes[0]!.url));
    for (const node of nodes) await expectExact(pair, await aClientOf(node));
    const node = nodes[1]!;
    const [one, alone, later] = [await aClientOf(node), await aClientOf(node), await aClientOf(node)];
    await node.stop();
    await until(async () => {
      // The requests are sent one after the other, because requests that fail together count as one failure.
      for (const counters of pair) expect(await outcomes([counters], one, 1)).toEqual({ allowed: 1 });
      return pair.every(({ countsAlone }) => countsAlone);
    });
    for (const counters of pair) {
      expect(await outcomes([counters], alone, SHARE + 4)).toEqual({ allowed: SHARE, limited: 4 });
    }

    await node.start();
    await untilWhole();
    await until(() => !pair.some(({ countsAlone }) => countsAlone));
    await expectExact(pair, later);
  });
});
