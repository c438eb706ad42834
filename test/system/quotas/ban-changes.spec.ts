import { KeysService } from '../../../src/modules/auth';
import { QuotaAdministration } from '../../../src/modules/quotas';
import type { ApiClient, ErrorBody } from '../../support/api-client';
import { earnBan, limitsIn } from '../../support/limits';
import { until } from '../../support/eventually';
import { MODES, useTwoInstances } from './support/use-two-instances';

const becomes = (caller: ApiClient, status: number) =>
  until(async () => (await caller.get('/categories')).status === status);

describe.each(MODES)('two instances that count %s', (mode) => {
  const { instances } = useTwoInstances(mode);
  const [here, there] = instances;

  test('a manual ban applies on both, and so does an unban', async () => {
    const { key, keyId } = await here.issueKey();
    const callers = [here, there].map((service) => service.anonymous().with({ 'X-API-Key': key }));
    for (const caller of callers) {
      await becomes(caller, 200);
    }
    const end = await here.app.get(QuotaAdministration).ban(keyId, 7_200_000);
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
    await there.app.get(QuotaAdministration).unban(keyId);
    for (const caller of callers) {
      await becomes(caller, 200);
    }
  });

  test('a ban earned on one applies on the other', async () => {
    const { key } = await here.issueKey({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
    const [offender, elsewhere] = [here, there].map((one) => one.anonymous().with({ 'X-API-Key': key }));
    await elsewhere!.get('/rate-limit');
    await offender!.get('/categories');
    await earnBan(offender!, here, there);
    await becomes(elsewhere!, 403);
  });

  test('a key that replaces a banned one inherits the ban, and the old one ends after the overlap', async () => {
    const { key, keyId } = await here.issueKey();
    const bans = here.app.get(QuotaAdministration);
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
});
