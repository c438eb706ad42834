import type { ErrorBody } from '../../support/api-client';
import type { MemoryQuotaStore } from '../../../src/modules/quotas/stores/memory-quota-store';
import { QuotaStore } from '../../../src/modules/quotas/stores/quota-store';
import { useService } from '../../support/use-service';
import { COUNTED, limitsIn, standing, statuses, without } from '../../support/limits';
import { until } from '../../support/eventually';

const service = useService();

// The harness holds each of these answers to the Error object and to all header fields.
describe('a failure within the limits is answered like any other', () => {
  it.each(['usage_days', 'key_bans'])('when %s cannot be read, and is refunded', async (table) => {
    const caller = await service.caller({ plan: 'free' });
    const failed = await without(service, table, () => caller.get<ErrorBody>(COUNTED));
    expect([failed.status, failed.body.code]).toEqual([500, 'internal_error']);
    expect(limitsIn(await caller.get(COUNTED))).toMatchObject({ limit: 60, remaining: 59 });
  });

  it('when keys cannot be looked up', async () => {
    const caller = await service.caller({ plan: 'free' });
    for (const path of [COUNTED, '/no/such/path', '/rate-limit']) {
      const failed = await without(service, 'api_keys', () => caller.get<ErrorBody>(path));
      expect([failed.status, failed.body.code]).toEqual([500, 'internal_error']);
    }
    expect((await standing(caller)).minute.remaining).toBe(60);
  });

  it.each([
    ['an enterprise plan without limits', `plan = 'enterprise', per_minute = NULL, per_day = NULL`],
    ['a plan that does not exist', `plan = 'gold'`],
  ])('when the client has %s in the database: it is never unlimited', async (_what, change) => {
    const { key, client } = await service.issueKey({ plan: 'free' });
    const caller = service.anonymous().with({ 'X-API-Key': key });
    await caller.get(COUNTED);
    await service.database.pool.query(`UPDATE clients SET ${change} WHERE name = $1`, [client]);
    await until(async () => (await caller.get('/rate-limit')).status === 500);
    expect([...(await statuses(caller, 2)), ...(await statuses(caller, 1, '/no/such/path'))]).not.toContain(
      200,
    );
    await service.database.pool.query(`UPDATE clients SET plan = 'free' WHERE name = $1`, [client]);
    await until(async () => (await caller.get('/rate-limit')).status === 200);
    expect(limitsIn(await caller.get(COUNTED)).remaining).toBe(58);
  });
});

it('the unsaved counts of a deleted client do not block those of others', async () => {
  const { key, client } = await service.issueKey();
  const gone = service.anonymous().with({ 'X-API-Key': key });
  const other = await service.caller({ perMinute: 1, perDay: 1_000 });
  await gone.get(COUNTED);
  await other.get(COUNTED);
  const { pool } = service.database;
  await pool.query(`DELETE FROM api_keys USING clients WHERE clients.id = client_id AND name = $1`, [client]);
  await pool.query(`DELETE FROM clients WHERE name = $1`, [client]);
  service.clock.advance(60_000);
  const { body } = await other.get<{ days: { requests: number }[] }>('/usage?days=1');
  expect(body.days[0]!.requests).toBe(2);
});

it('idle state leaves the memory of a busy service', async () => {
  const store = service.app.get<MemoryQuotaStore>(QuotaStore);
  await statuses(await service.caller(), 1);
  const busy = await service.caller();
  await busy.get(COUNTED);
  expect(store.size.clients).toBeGreaterThan(1);
  service.clock.advance(11 * 60_000);
  await busy.get(COUNTED);
  await store['memory']['sweeper'].runNow();
  expect(store.size).toMatchObject({ clients: 1, keys: 1 });
});
