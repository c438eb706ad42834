import { Redis } from 'ioredis';
import { ManualClock } from '#libs/clock';
import { newBanState } from '../../../../src/modules/quotas/rules/ban-rules';
import { RedisQuotaStore } from '../../../../src/modules/quotas/stores/redis-quota-store';
import type { QuotaRecords } from '../../../../src/modules/quotas/stores/quota-records';
import type { Standing } from '../../../../src/modules/quotas/stores/quota-store';
import type { ClientSubject } from '../../../../src/modules/quotas/stores/quota-store';
import { until } from '../../../support/eventually';
import { onClock } from '../../../support/redis-clock';
import { RedisServer } from '../../../support/redis-server';

/** After this the caller gives up; long enough for Redis to reply before on a busy machine. */
const BUDGET_MS = 500;

const clock = new ManualClock();
const saveBan = jest.fn();
const RECORDS = {
  count: () => undefined,
  saveBan,
  read: () => Promise.resolve({ day: 0, requests: 0, resetAt: 0, ban: newBanState() }),
} as unknown as QuotaRecords;

let server: RedisServer;
let client: Redis;
let store: RedisQuotaStore;

beforeAll(async () => {
  server = await RedisServer.start();
  client = onClock(new Redis(server.url), clock);
  store = new RedisQuotaStore(client, RECORDS, BUDGET_MS);
});
afterAll(async () => {
  client.disconnect();
  await server.close();
});

function aClient(id: number): ClientSubject {
  return { kind: 'client', clientId: id, keyId: id, limits: { perMinute: 2, perDay: 50 } };
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
  const subject = aClient(1);
  await store.take(subject);
  const { standings } = await takeTooLate(subject, 5);
  expect(standings.map(({ remaining }) => remaining)).toEqual([1, 49]);
});

test('nor is a refusal, and it bans nobody', async () => {
  const subject = aClient(2);
  for (let request = 0; request < 3; request += 1) {
    await store.take(subject);
  }
  clock.advance(1_000);
  await store.take(subject);
  const { bans } = await takeTooLate(subject, 20);
  expect(bans).toMatchObject({ refusals: 1, level: 0, bannedUntil: 0 });
  expect(saveBan).not.toHaveBeenCalled();
});
