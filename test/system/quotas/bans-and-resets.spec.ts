import { auditEntries } from '../../support/audit';
import { KeysService } from '../../../src/modules/auth';
import { QuotasService, QuotaStore } from '../../../src/modules/quotas';
import { newBanState } from '../../../src/modules/quotas/rules/decision';
import { QuotaRecords } from '../../../src/modules/quotas/stores/quota-records';
import type { ApiClient, ErrorBody } from '../../support/api-client';
import { until } from '../../support/eventually';
import { COUNTED, earnBan, limitsIn, standing, statuses, without } from '../../support/limits';
import { RedisServer } from '../../support/redis-server';
import { type TestService, startService } from '../../support/service';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { useService } from '../../support/use-service';

const becomes = (caller: ApiClient, status: number) =>
  until(async () => (await caller.get('/categories')).status === status);

describe.each(['alone', 'through Redis'])('two instances that count %s', (mode) => {
  let database: TestDatabase;
  let redis: RedisServer | undefined;
  beforeAll(async () => {
    redis = mode === 'alone' ? undefined : await RedisServer.start();
    database = await createTestDatabase();
  });
  const options = () => ({ database, settings: { redisUrl: redis?.url, instances: 2 } });
  const instances: [TestService, TestService] = [useService(options), useService(options)];
  const [here, there] = instances;
  afterAll(async () => {
    await database.drop();
    await redis?.close();
  });
  const countAlone = (alone: boolean) =>
    instances.every(({ app }) => app.get(QuotaStore).redis.isDegraded === alone);

  test('a manual ban applies on both, and so does an unban', async () => {
    const { key, keyId } = await here.issueKey();
    const callers = [here, there].map((service) => service.anonymous().with({ 'X-API-Key': key }));
    for (const caller of callers) {
      await becomes(caller, 200);
    }
    const end = await here.app.get(QuotasService).ban(keyId, 7_200_000);
    expect(end.getTime()).toBe(here.clock.now() + 7_200_000);
    for (const caller of callers) {
      await becomes(caller, 403);
      const banned = await caller.get<ErrorBody>('/categories');
      expect(limitsIn(banned)).toMatchObject({
        remaining: 0,
        reset: end.getTime() / 1_000,
        retryAfter: 7_200,
      });
      expect(banned.body.message).toMatch(/^An operator of this service has banned the API key/);
    }
    await there.app.get(QuotasService).unban(keyId);
    for (const caller of callers) {
      await becomes(caller, 200);
    }
  });

  test('a ban earned on one applies on the other', async () => {
    const { key } = await here.issueKey({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
    const [offender, elsewhere] = [here, there].map((one) => one.anonymous().with({ 'X-API-Key': key }));
    await elsewhere!.get('/rate-limit');
    await offender!.get('/categories');
    await earnBan(offender!, ...instances);
    await becomes(elsewhere!, 403);
  });

  test('a key that replaces a banned one inherits the ban, and the old one ends after the overlap', async () => {
    const { key, keyId } = await here.issueKey();
    const bans = here.app.get(QuotasService);
    await bans.ban(keyId, 600_000);
    const rotated = await here.app
      .get(KeysService)
      .rotate(keyId, 0, (transaction, newId) => bans.inheritBan(transaction, keyId, newId));
    const answer = await there
      .anonymous()
      .with({ 'X-API-Key': rotated.key })
      .get<{ code: string }>('/categories');
    expect([answer.status, answer.body.code]).toEqual([403, 'api_key_banned']);
    expect(rotated.record.scopes).toEqual(['read', 'write']);
    const { rows } = await here.database.pool.query<{ ended: boolean }>(
      'SELECT expires_at <= now() AS ended FROM api_keys WHERE id = $1',
      [keyId],
    );
    expect(rows).toEqual([{ ended: true }]);
    expect(rotated.key).not.toBe(key);
  });

  describe('a reset', () => {
    async function aLimitedClient(): Promise<{ clientId: number; key: string; callers: ApiClient[] }> {
      const { key, client } = await here.issueKey({ plan: 'enterprise', perMinute: 5, perDay: 8 });
      const { rows } = await here.database.pool.query<{ id: string }>(
        'SELECT id FROM clients WHERE name = $1',
        [client],
      );
      const callers = [here, there].map((service) => service.anonymous().with({ 'X-API-Key': key }));
      return { clientId: Number(rows[0]!.id), key, callers };
    }

    /** Resetting carries the time of the clock, and the first of two resets of one moment is all there is. */
    async function reset(clientId: number): Promise<void> {
      here.clock.advance(1_000);
      there.clock.advance(1_000);
      await here.app.get(QuotasService).reset(clientId);
    }

    async function hasAllOfItsMinute(caller: ApiClient): Promise<boolean> {
      return (await standing(caller)).minute.remaining === 5;
    }

    test('a reset restarts both windows on both instances, once', async () => {
      const { clientId, callers } = await aLimitedClient();
      for (const caller of callers) {
        await statuses(caller, 6);
      }
      await reset(clientId);
      for (const caller of callers) {
        await until(() => hasAllOfItsMinute(caller));
        expect((await standing(caller)).day.remaining).toBe(8);
      }
      const [first, second] = await Promise.all(callers.map((caller) => statuses(caller, 6)));
      const passed = [...first!, ...second!].filter((status) => status === 200);
      expect(passed).toHaveLength(mode === 'alone' ? 10 : 5);
    });

    test('past usage stays in the report, and is not counted again after a restart', async () => {
      const { clientId, key, callers } = await aLimitedClient();
      expect(await statuses(callers[0]!, 4)).toEqual([200, 200, 200, 200]);
      // To ask for the usage writes down what was counted.
      await callers[0]!.get('/usage');
      await reset(clientId);
      await until(() => hasAllOfItsMinute(callers[0]!));
      const { body } = await callers[0]!.get<{ days: { requests: number }[] }>('/usage?days=1');
      expect(body.days.at(-1)!.requests).toBeGreaterThanOrEqual(5);

      await redis?.stop();
      await until(() => countAlone(redis !== undefined));
      await redis?.start();
      // Until then the instances count alone, also in whatever test comes next.
      await until(() => countAlone(false));
      const later = await startService(options());
      later.clock.set(here.clock.now());
      const fresh = later.anonymous().with({ 'X-API-Key': key });
      expect((await standing(fresh)).day.remaining).toBeGreaterThanOrEqual(6);
      await later.close();
    });
  });

  describe('an earned ban', () => {
    const aKey = () => here.issueKey({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
    const flush = () => Promise.all(instances.map(({ app }) => app.get(QuotaRecords).flush()));
    const entries = async (keyId: number) =>
      (await auditEntries(here)).filter((entry) => entry.keyId === keyId && entry.action === 'key.banned');
    const advance = (milliseconds: number) => instances.forEach(({ clock }) => clock.advance(milliseconds));

    /** Asks one instance for as long as it takes to be banned by it, and then some more. */
    async function beBanned(key: string): Promise<void> {
      const caller = here.anonymous().with({ 'X-API-Key': key });
      await caller.get(COUNTED);
      await earnBan(caller, ...instances);
      expect(await statuses(caller, 2)).toEqual([403, 403]);
    }

    /** Asks the other one until it has heard of the ban, and then some more. */
    async function insistElsewhere(key: string): Promise<void> {
      const caller = there.anonymous().with({ 'X-API-Key': key });
      await until(async () => (await caller.get('/categories')).status === 403);
      expect(new Set(await statuses(caller, 12))).toEqual(new Set([403]));
    }

    test('an earned ban is recorded once, with the key as its actor and the time it was earned', async () => {
      const { key, keyId, client } = await aKey();
      await beBanned(key);
      const at = new Date(here.clock.now());
      await flush();
      await insistElsewhere(key);
      await flush();
      const bannedUntil = new Date(at.getTime() + 120_000).toISOString();
      const subject = { clientName: client, keyId };
      const first = {
        ...subject,
        at,
        actor: { kind: 'key', name: String(keyId) },
        details: { level: 1, bannedUntil },
      };
      expect(await entries(keyId)).toMatchObject([first]);

      advance(120_000);
      await beBanned(key);
      const next = { at: new Date(here.clock.now()), details: { level: 2 } };
      await flush();
      expect(await entries(keyId)).toMatchObject([next, first]);
    });

    test('a ban is recorded once, even if a write succeeded and its response was lost', async () => {
      const { key, keyId } = await aKey();
      await beBanned(key);
      await flush();
      const [entry] = await entries(keyId);
      const bannedUntil = Date.parse(entry!.details.bannedUntil as string);
      const again = { ...newBanState(), level: 1, bannedUntil };
      for (const { app } of instances) {
        app.get(QuotaRecords).saveBan(keyId, again, entry!.at.getTime());
      }
      expect(await flush()).toEqual([true, true]);
      expect(await entries(keyId)).toEqual([entry]);
    });

    test('a ban and its audit entry are written together', async () => {
      const { key, keyId } = await aKey();
      const known = async () =>
        (await here.database.pool.query('SELECT FROM key_bans WHERE key_id = $1', [keyId])).rowCount;
      await without(here, 'audit_entries', async () => {
        await beBanned(key);
        expect((await flush())[0]).toBe(false);
        expect(await known()).toBe(0);
      });
      expect(await flush()).toEqual([true, true]);
      expect([await known(), (await entries(keyId)).length]).toEqual([1, 1]);
    });

    test('all pending bans are recorded', async () => {
      const { key, keyId } = await aKey();
      await without(here, 'audit_entries', async () => {
        await beBanned(key);
        advance(120_000);
        await beBanned(key);
      });
      expect(await flush()).toEqual([true, true]);
      expect((await entries(keyId)).map(({ details }) => details.level)).toEqual([2, 1]);
    });
  });
});
