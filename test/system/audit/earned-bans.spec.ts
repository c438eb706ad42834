import { AuditTrail } from '../../../src/modules/audit';
import { newBanState } from '../../../src/modules/quotas/rules/ban-rules';
import { QuotaRecords } from '../../../src/modules/quotas/stores/quota-records';
import { COUNTED, earnBan as provokeBan, statuses, without } from '../../support/limits';
import { until } from '../../support/eventually';
import { MODES, useTwoInstances } from '../quotas/support/use-two-instances';

describe.each(MODES)('two instances that count %s', (mode) => {
  const { instances } = useTwoInstances(mode);
  const [here, there] = instances;

  const aKey = () => here.issueKey({ plan: 'enterprise', perMinute: 1, perDay: 1_000 });
  const flush = () => Promise.all(instances.map(({ app }) => app.get(QuotaRecords).flush()));
  const entries = (keyId: number) =>
    here.app.get(AuditTrail).newest({ keyId, actionPrefix: 'key.banned', limit: 10 });
  const advance = (milliseconds: number) => instances.forEach(({ clock }) => clock.advance(milliseconds));

  /** Asks one instance for as long as it takes to be banned by it, and then some more. */
  async function earnBan(key: string): Promise<void> {
    const caller = here.anonymous().with({ 'X-API-Key': key });
    await caller.get(COUNTED);
    await provokeBan(caller, ...instances);
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
    await earnBan(key);
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
    await earnBan(key);
    const next = { at: new Date(here.clock.now()), details: { level: 2 } };
    await flush();
    expect(await entries(keyId)).toMatchObject([next, first]);
  });

  test('a ban is recorded once, even if a write succeeded and its response was lost', async () => {
    const { key, keyId } = await aKey();
    await earnBan(key);
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
      await earnBan(key);
      expect((await flush())[0]).toBe(false);
      expect(await known()).toBe(0);
    });
    expect(await flush()).toEqual([true, true]);
    expect([await known(), (await entries(keyId)).length]).toEqual([1, 1]);
  });

  test('all pending bans are recorded', async () => {
    const { key, keyId } = await aKey();
    await without(here, 'audit_entries', async () => {
      await earnBan(key);
      advance(120_000);
      await earnBan(key);
    });
    expect(await flush()).toEqual([true, true]);
    expect((await entries(keyId)).map(({ details }) => details.level)).toEqual([2, 1]);
  });
});
