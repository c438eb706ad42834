import * as fc from 'fast-check';
import { Redis } from 'ioredis';
import { newBanState } from '../../../src/quotas/ban-rules';
import { decide } from '../../../src/quotas/decision';
import { RedisQuotaStore } from '../../../src/quotas/fleet/redis-quota-store';
import { type Limits, handBack, newWindowState } from '../../../src/quotas/rate-window';
import type { QuotaRecords } from '../../../src/quotas/store/quota-records';
import type { Subject } from '../../../src/quotas/subject';
import { RedisServer } from '../../support/redis-server';

const START = Date.UTC(2026, 10, 21, 23, 58);

let server: RedisServer;
let client: Redis;
let clients = 0;

beforeAll(async () => {
  server = await RedisServer.start();
  client = new Redis(server.url);
});

afterAll(async () => {
  client.disconnect();
  await server.close();
});

/** A database that remembers nothing: every history starts anew. */
const FORGETFUL = {
  count: () => undefined,
  saveBan: () => undefined,
  remembered: () => Promise.resolve({ day: 0, requests: 0, resetAt: 0, level: 0, bannedUntil: 0 }),
} as unknown as QuotaRecords;

/** The ends of windows, bans and forgiveness, and the moments around them. */
const MOMENTS = [60, 120, 600, 3_600, 86_400, 259_200, 90_000_000 / 1000]
  .flatMap((seconds) => [seconds * 1000 - 1, seconds * 1000, seconds * 1000 + 1])
  .concat(-3_600_000, -3_600_001);

/** A pause, and then some requests in a row: enough of them to be banned, now and then. */
function requests(gap: fc.Arbitrary<number>, times = fc.integer({ min: 1, max: 16 })) {
  return fc.record({ do: fc.constant('take' as const), gap, times });
}

const step = fc.oneof(
  { weight: 4, arbitrary: requests(fc.nat(400)) },
  { weight: 3, arbitrary: requests(fc.nat(200_000)) },
  { weight: 2, arbitrary: requests(fc.integer({ min: -7_200_000, max: 300_000_000 })) },
  { weight: 6, arbitrary: requests(fc.constantFrom(...MOMENTS), fc.constant(16)) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('back' as const), gap: fc.nat(1_000) }) },
);

const limits = fc.record<Limits>({
  perMinute: fc.integer({ min: 1, max: 4 }),
  perDay: fc.option(fc.integer({ min: 1, max: 12 }), { nil: null }),
});

test('Redis decides every history as the rules do', async () => {
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { maxLength: 25 }), async (allowed, steps) => {
      clients += 1;
      let now = START;
      const store = new RedisQuotaStore(client, FORGETFUL, () => now);
      const subject: Subject =
        allowed.perDay === null
          ? { kind: 'address', address: `10.0.0.${clients}`, limits: allowed }
          : { kind: 'client', clientId: clients, keyId: clients, limits: allowed };
      const windows = newWindowState(now);
      const bans = subject.kind === 'client' ? newBanState() : null;
      let lastTaken = -1;
      for (const one of steps) {
        now += one.gap;
        if (one.do === 'back') {
          if (lastTaken >= 0) {
            await store.handBack(subject, { takenAt: lastTaken });
            // The rules settle a window when they look at it, as the script does at each of its steps.
            decideNothing(windows, allowed, now);
            handBack(windows, lastTaken);
            lastTaken = -1;
          }
          continue;
        }
        for (let time = 0; time < one.times; time += 1) {
          const expected = decide(windows, bans, allowed, now);
          expect(await store.take(subject)).toEqual(expected);
          lastTaken = expected.takenAt >= 0 ? expected.takenAt : lastTaken;
        }
      }
    }),
    { numRuns: 200 },
  );
}, 60_000);

function decideNothing(windows: ReturnType<typeof newWindowState>, allowed: Limits, now: number): void {
  decide(windows, null, { perMinute: 0, perDay: allowed.perDay }, now);
}
