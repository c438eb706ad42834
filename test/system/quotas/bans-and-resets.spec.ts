import { auditEntries } from '../../support/audit';
import type { FastifyRequest } from 'fastify';
import { Authenticator, ClientsService } from '../../../src/modules/auth';
import { QuotasService } from '../../../src/modules/quotas';
import { QuotaRecords } from '../../../src/modules/quotas/counters/quota-records';
import type { ApiCaller, ErrorBody } from '../../support/api-caller';
import { until } from '../../support/eventually';
import { COUNTED, earnBan, limitsIn, standing, statuses, without } from '../../support/limits';
import { RedisServer } from '../../support/redis-server';
import { usePair } from './fleet/support/pair';

const BAN_MS = 120_000;

const becomes = (caller: ApiCaller, status: number) =>
  until(async () => (await caller.get(COUNTED)).status === status);

let redis: RedisServer;
beforeAll(async () => (redis = await RedisServer.start()));
const pair = usePair(() => [redis.url, redis.url]);
afterAll(() => redis.close());

const bans = () => pair.services[0].app.get(QuotasService);

test('a manual ban applies on both, and so does an unban', async () => {
  const { keyId, callers } = await pair.client();
  for (const caller of callers) await becomes(caller, 200);
  const end = await bans().ban(keyId, 7_200_000);
  for (const caller of callers) {
    await becomes(caller, 403);
    const banned = await caller.get<ErrorBody>(COUNTED);
    const reset = end.getTime() / 1_000;
    expect(limitsIn(banned)).toMatchObject({ remaining: 0, reset, retryAfter: 7_200 });
    expect(banned.body.message).toMatch(/^An operator of this service has banned the API key/);
  }
  await pair.services[1].app.get(QuotasService).unban(keyId);
  for (const caller of callers) await becomes(caller, 200);
});

test('a key that replaces a banned one inherits the ban', async () => {
  const { keyId, callers } = await pair.client();
  await bans().ban(keyId, 600_000);
  const rotated = await pair.services[0].app.get(ClientsService).rotateKey(keyId, 0);
  const answer = await callers[1]!.with({ 'X-API-Key': rotated.key }).get<ErrorBody>(COUNTED);
  expect([answer.status, answer.body.code]).toEqual([403, 'api_key_banned']);
});

test('a reset restarts both windows on both instances, once', async () => {
  const { clientId, callers } = await pair.client({ plan: 'enterprise', perMinute: 5, perDay: 8 });
  for (const caller of callers) await statuses(caller, 6);
  // Resetting carries the time of the clock, and the first of two resets of one moment is all there is.
  pair.advance(1_000);
  await bans().reset(clientId);
  const isFull = { minute: { remaining: 5 }, day: { remaining: 8 } };
  for (const caller of callers) {
    await until(async () => (await standing(caller)).minute.remaining === 5);
    expect(await standing(caller)).toMatchObject(isFull);
  }
  const both = (await Promise.all(callers.map((caller) => statuses(caller, 6)))).flat();
  expect(both.filter((status) => status === 200)).toHaveLength(5);
});

describe('an earned ban', () => {
  const flush = () => Promise.all(pair.services.map(({ app }) => app.get(QuotaRecords).flush()));
  const entries = async (keyId: number) =>
    (await auditEntries(pair.services[0])).filter(
      (entry) => entry.keyId === keyId && entry.action === 'key.banned',
    );

  /** Asks for as long as it takes to be banned, and then some more. */
  async function beBanned(caller: ApiCaller): Promise<void> {
    await caller.get(COUNTED);
    await earnBan(caller, ...pair.services);
    expect(await statuses(caller, 2)).toEqual([403, 403]);
  }

  test('applies on the other instance, and is recorded once, with the key as its actor and the time it was earned', async () => {
    const { key, keyId, callers } = await pair.client({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
    await callers[1]!.get('/rate-limit');
    await beBanned(callers[0]!);
    const at = new Date(pair.services[0].clock.now());
    await flush();
    await becomes(callers[1]!, 403);
    expect(new Set(await statuses(callers[1]!, 12))).toEqual(new Set([403]));
    await flush();
    const bannedUntil = new Date(at.getTime() + BAN_MS).toISOString();
    const actor = { kind: 'key', name: String(keyId) };
    const first = { at, actor, details: { level: 1, bannedUntil } };
    expect(await entries(keyId)).toMatchObject([first]);

    pair.advance(BAN_MS);
    // A ban lasts longer than an instance takes to read the key again, with the ban.
    const request = { raw: { rawHeaders: ['X-API-Key', key] } } as FastifyRequest;
    await pair.services[0].app.get(Authenticator).confirm(request);
    await beBanned(callers[0]!);
    await flush();
    expect(await entries(keyId)).toMatchObject([{ details: { level: 2 } }, first]);
  });

  test('is written together with its audit entry, and all that wait are written', async () => {
    const { keyId, callers } = await pair.client({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
    const known = async () => {
      const { pool } = pair.services[0].database;
      return (await pool.query('SELECT FROM api_keys WHERE id = $1 AND ban_level > 0', [keyId])).rowCount;
    };
    await without(pair.services[0], 'audit_entries', async () => {
      await beBanned(callers[0]!);
      await flush();
      expect(await known()).toBe(0);
      pair.advance(BAN_MS);
      await beBanned(callers[0]!);
    });
    await flush();
    expect(await known()).toBe(1);
    expect((await entries(keyId)).map(({ details }) => details.level)).toEqual([2, 1]);
  });
});
