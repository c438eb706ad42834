import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { ManualClock } from '#libs/clock';
import { FleetQuotaStore } from '../../../src/modules/quotas/stores/fleet-quota-store';
import type { MemoryQuotaStore } from '../../../src/modules/quotas/stores/memory-quota-store';
import { addressSubject } from '../../../src/modules/quotas/request-limiter';
import type { RedisQuotaStore } from '../../../src/modules/quotas/stores/redis-quota-store';
import { RedisUnavailableError } from '../../../src/modules/quotas/stores/script-calls';

const PROBE_MS = 250;
const SUBJECT = addressSubject('192.0.2.1');

/** A connection whose calls are answered by the test; what Redis itself does is tested with a real one. */
let connection: EventEmitter & { status: string; disconnect: () => void };
let take: jest.Mock;
let probe: jest.Mock;
let store: FleetQuotaStore;
let changes: boolean[];

beforeEach(() => {
  jest.useFakeTimers();
  const answers = { info: () => Promise.resolve('maxmemory_policy:noeviction'), disconnect: jest.fn() };
  connection = Object.assign(new EventEmitter(), { status: 'ready', ...answers });
  take = jest.fn().mockResolvedValue({ outcome: 'allowed' });
  probe = jest.fn().mockResolvedValue(undefined);
  const shared = { take, probe, markStale: () => Promise.resolve() } as unknown as RedisQuotaStore;
  const local = {
    take: () => ({ outcome: 'allowed' }),
    reload: () => Promise.resolve(),
  } as unknown as MemoryQuotaStore;
  store = new FleetQuotaStore(connection as unknown as Redis, shared, local, new ManualClock(), 2);
  changes = [];
  store.onChange = () => changes.push(store.redis.isDegraded);
});
afterEach(() => {
  store.onApplicationShutdown();
  jest.useRealTimers();
});

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

const isAway = () => new RedisUnavailableError('silence');

it('counts locally from the start until Redis answers', async () => {
  probe.mockRejectedValueOnce(isAway());
  const started = store.start();
  expect(store.redis.isDegraded).toBe(true);
  await started;
  expect([store.redis.isDegraded, changes]).toEqual([true, []]);
  expect(await store.take(SUBJECT)).toMatchObject({ takenLocally: true });
  await pass(PROBE_MS);
  expect(changes).toEqual([false]);
});

it('the start waits for a connection, unless it is refused', async () => {
  connection.status = 'connecting';
  connection.on('error', () => undefined);
  const started = store.start();
  await pass(0);
  expect(probe).not.toHaveBeenCalled();
  connection.emit('error', new Error('refused'));
  await started;
  expect(probe).toHaveBeenCalledTimes(1);
});

it('counts a failed request locally, and the others too if Redis does not answer a probe either', async () => {
  await store.start();
  take.mockRejectedValueOnce(isAway());
  expect(await store.take(SUBJECT)).toMatchObject({ takenLocally: true });
  await pass(0);
  expect(changes).toEqual([false]);
  expect(await store.take(SUBJECT)).not.toHaveProperty('takenLocally');
  take.mockRejectedValueOnce(isAway());
  probe.mockRejectedValueOnce(isAway());
  await store.take(SUBJECT);
  await pass(0);
  expect(changes).toEqual([false, true]);
});

it('counts locally at once when the connection is closed, and probes one at a time until Redis is back', async () => {
  await store.start();
  connection.emit('close');
  connection.emit('close');
  await pass(PROBE_MS - 1);
  expect([changes, probe.mock.calls.length]).toEqual([[false, true], 1]);
  let answer: () => void = () => undefined;
  probe.mockReturnValueOnce(new Promise<void>((resolve) => (answer = resolve)));
  await pass(10 * PROBE_MS);
  expect(probe).toHaveBeenCalledTimes(2);
  answer();
  await pass(0);
  expect(changes).toEqual([false, true, false]);
  await pass(10 * PROBE_MS);
  expect(probe).toHaveBeenCalledTimes(2);
});

it('neither probes nor changes after the shutdown', async () => {
  await store.start();
  store.onApplicationShutdown();
  connection.emit('close');
  take.mockRejectedValueOnce(isAway());
  await store.take(SUBJECT);
  await pass(10 * PROBE_MS);
  expect([changes, probe.mock.calls.length]).toEqual([[false], 1]);
});

it('a failure of the database is not one of Redis: the request fails, and nothing changes', async () => {
  await store.start();
  for (let time = 0; time < 5; time += 1) {
    take.mockRejectedValueOnce(new Error('database is away'));
    await expect(Promise.resolve(store.take(SUBJECT))).rejects.toThrow('database is away');
  }
  expect(changes).toEqual([false]);
});
