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
let connection: EventEmitter & { disconnect: () => void };
let take: jest.Mock;
let probe: jest.Mock;
let store: FleetQuotaStore;
let changes: boolean[];

beforeEach(() => {
  jest.useFakeTimers();
  connection = Object.assign(new EventEmitter(), { disconnect: jest.fn() });
  take = jest.fn().mockResolvedValue({ outcome: 'allowed' });
  probe = jest.fn().mockRejectedValue(new Error('still away'));
  const shared = { take, probe, markStale: () => Promise.resolve() } as unknown as RedisQuotaStore;
  const local = {
    take: () => ({ outcome: 'allowed' }),
    reloadDays: () => Promise.resolve(),
  } as unknown as MemoryQuotaStore;
  store = new FleetQuotaStore(connection as unknown as Redis, shared, local, new ManualClock(), 2);
  changes = [];
  store.onChange(() => changes.push(store.isDegraded()));
});
afterEach(() => {
  store.onApplicationShutdown();
  jest.useRealTimers();
});

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

async function fail(times: number, atOnce = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    for (let one = 0; one < atOnce; one += 1) {
      take.mockRejectedValueOnce(new RedisUnavailableError('silence'));
    }
    await Promise.all(Array.from({ length: atOnce }, async () => store.take(SUBJECT)));
  }
}

it('counts locally after three failures in a row; those of concurrent requests are one', async () => {
  await fail(2, 50);
  expect(store.isDegraded()).toBe(false);
  await fail(1);
  expect(changes).toEqual([true]);
  expect(await store.take(SUBJECT)).toMatchObject({ takenLocally: true });
});

it('still counts in Redis when a success comes between failures, and falls back for each failed request', async () => {
  await fail(2);
  expect(await store.take(SUBJECT)).not.toHaveProperty('takenLocally');
  await fail(2);
  expect(changes).toEqual([]);
});

it('counts locally at once when the connection is closed, and probes one at a time until Redis is back', async () => {
  connection.emit('close');
  connection.emit('close');
  await pass(PROBE_MS - 1);
  expect([changes, probe.mock.calls.length]).toEqual([[true], 0]);
  let answer: () => void = () => undefined;
  probe.mockReturnValueOnce(new Promise<void>((resolve) => (answer = resolve)));
  await pass(10 * PROBE_MS);
  expect(probe).toHaveBeenCalledTimes(1);
  answer();
  await pass(0);
  expect(changes).toEqual([true, false]);
  await fail(2);
  expect(store.isDegraded()).toBe(false);
  await fail(1);
  await pass(PROBE_MS);
  expect([changes, probe.mock.calls.length]).toEqual([[true, false, true], 2]);
});

it('neither probes nor changes after the shutdown', async () => {
  store.onApplicationShutdown();
  connection.emit('close');
  await fail(3);
  await pass(10 * PROBE_MS);
  expect([changes, probe.mock.calls.length]).toEqual([[], 0]);
});

it('a failure of the database is not one of Redis: the request fails, and nothing changes', async () => {
  for (let time = 0; time < 5; time += 1) {
    take.mockRejectedValueOnce(new Error('database is away'));
    await expect(Promise.resolve(store.take(SUBJECT))).rejects.toThrow('database is away');
  }
  expect(changes).toEqual([]);
});
