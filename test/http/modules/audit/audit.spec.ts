import { ClientsService, KeysService } from '../../../../src/modules/auth';
import { QuotasService, agreedPlan } from '../../../../src/modules/quotas';
import { DEMO_CLIENT, SeedService } from '../../../../src/runtime/seed';
import { without } from '../../../support/limits';
import { useService } from '../../../support/use-service';
import { type RecordedEntry, auditEntries } from '../../../support/audit';

const service = useService();
const clients = () => service.app.get(ClientsService);
const keys = () => service.app.get(KeysService);
const bans = () => service.app.get(QuotasService);
const inherit =
  (from: number): Parameters<KeysService['rotate']>[2] =>
  (transaction, to) =>
    bans().inheritBan(transaction, from, to);

const SERVICE = { kind: 'service', name: 'service' };
const HOUR = 3_600_000;

/** The entries that the work has added, the oldest first. */
async function added(work: () => Promise<unknown>): Promise<Omit<RecordedEntry, 'id'>[]> {
  const newest = () => auditEntries(service);
  const known = new Set((await newest()).map(({ id }) => id));
  await work();
  return (await newest())
    .filter(({ id }) => !known.has(id))
    .reverse()
    .map(({ id: _id, ...entry }) => entry);
}

/** A client with a key, and what every entry about them says. */
async function aKey(): Promise<{ client: string; clientId: number; keyId: number; key: string }> {
  const { client, keyId, key } = await service.issueKey({ plan: 'free' });
  return { client, clientId: (await clients().named(client)).id, keyId, key };
}

const entry = (action: string, subject: object, details: object = {}) => ({
  ...{ at: new Date(service.clock.now()), actor: SERVICE, keyId: null, action, details },
  ...subject,
});

describe('exactly one correct entry is written for', () => {
  test('a new client', async () => {
    const entries = await added(() => clients().create('new', agreedPlan('enterprise', 7, 70)));
    const { id: clientId } = await clients().named('new');
    const details = { plan: 'enterprise', perMinute: 7, perDay: 70 };
    expect(entries).toEqual([entry('client.created', { clientId, clientName: 'new' }, details)]);
  });

  test('a plan change', async () => {
    const { client, clientId } = await aKey();
    const details = {
      plan: { before: 'free', after: 'enterprise' },
      perMinute: { before: null, after: 5 },
      perDay: { before: null, after: 50 },
    };
    expect(await added(() => clients().setPlan(client, agreedPlan('enterprise', 5, 50)))).toEqual([
      entry('client.plan_changed', { clientId, clientName: client }, details),
    ]);
  });

  test('a new key', async () => {
    const { client, clientId } = await aKey();
    const expiresAt = new Date('2030-01-01T00:00:00Z');
    const issued: number[] = [];
    const entries = await added(async () => {
      issued.push((await keys().issue({ client, scopes: ['read'], expiresAt })).record.id);
    });
    const details = { name: null, scopes: ['read'], expiresAt: '2030-01-01T00:00:00.000Z' };
    expect(entries).toEqual([
      entry('key.issued', { clientId, clientName: client, keyId: issued[0] }, details),
    ]);
  });

  test('a rotated key, with what happened to the old key and the id of the new one', async () => {
    const { client, clientId, keyId } = await aKey();
    let newKeyId = 0;
    const entries = await added(async () => {
      newKeyId = (await keys().rotate(keyId, HOUR, inherit(keyId))).record.id;
    });
    const after = (await keys().byId(keyId)).expiresAt!.toISOString();
    const scopes = ['read', 'write'];
    const details = { newKeyId, scopes, overlapSeconds: 3_600, expiresAt: { before: null, after } };
    expect(entries).toEqual([entry('key.rotated', { clientId, clientName: client, keyId }, details)]);
  });

  test('a reset of windows', async () => {
    const { client, clientId } = await aKey();
    const resets = service.app.get(QuotasService);
    expect(await added(() => resets.reset(clientId))).toEqual([
      entry('quota.reset', { clientId, clientName: client }),
    ]);
  });

  test('a revoked key', async () => {
    const { client, clientId, keyId } = await aKey();
    expect(await added(() => keys().revoke(keyId))).toEqual([
      entry('key.revoked', { clientId, clientName: client, keyId }),
    ]);
  });

  test('a manual ban, and its end', async () => {
    const { client, clientId, keyId } = await aKey();
    const subject = { clientId, clientName: client, keyId };
    const now = service.clock.now();
    const [end, lifted] = [new Date(now + 2 * HOUR).toISOString(), new Date(now).toISOString()];
    expect(await added(() => bans().ban(keyId, 2 * HOUR))).toEqual([
      entry('key.banned', subject, { level: 1, bannedUntil: end }),
    ]);
    const details = { level: { before: 1, after: 0 }, bannedUntil: { before: end, after: lifted } };
    expect(await added(() => bans().unban(keyId))).toEqual([entry('key.unbanned', subject, details)]);
  });
});

test('the catalogue, client and key of a first start are attributed to the service', async () => {
  const entries = await added(() => service.app.get(SeedService).seed());
  expect(entries.map(({ actor, action, clientName }) => [actor, action, clientName])).toEqual([
    [SERVICE, 'catalogue.imported', null],
    [SERVICE, 'client.created', DEMO_CLIENT],
    [SERVICE, 'key.issued', DEMO_CLIENT],
  ]);
});

test('a command that changes nothing writes no entry', async () => {
  const { client, keyId } = await aKey();
  await keys().revoke(keyId);
  const idle = async () => {
    await keys().revoke(keyId);
    await bans().unban(keyId);
    await clients().setPlan(client, agreedPlan('free'));
  };
  expect(await added(idle)).toEqual([]);
});

test('a command that fails writes no entry', async () => {
  const { client, keyId } = await aKey();
  const revoked = await aKey();
  await keys().revoke(revoked.keyId);
  const failures = [
    () => clients().create(client, agreedPlan('free')),
    () => clients().setPlan('nobody', agreedPlan('pro')),
    () => keys().issue({ client: 'nobody' }),
    () => keys().rotate(revoked.keyId, 0, inherit(revoked.keyId)),
    () => keys().rotate(keyId, 0, () => Promise.reject(new Error('no'))),
    () => keys().revoke(4711),
  ];
  for (const failure of failures) {
    expect(await added(() => expect(failure()).rejects.toThrow())).toEqual([]);
  }
});

test('a change whose entry cannot be written is rolled back', async () => {
  const { client, keyId } = await aKey();
  const banned = await aKey();
  await bans().ban(banned.keyId, HOUR);
  const state = async () => {
    const query = `SELECT (SELECT jsonb_agg(clients ORDER BY id) FROM clients) AS clients,
      (SELECT jsonb_agg(api_keys ORDER BY id) FROM api_keys) AS keys,
      (SELECT jsonb_agg(key_bans ORDER BY key_id) FROM key_bans) AS bans`;
    return (await service.database.pool.query<object>(query)).rows;
  };
  const before = await state();
  const actions = [
    () => clients().create('unentered', agreedPlan('free')),
    () => clients().setPlan(client, agreedPlan('pro')),
    () => keys().issue({ client }),
    () => keys().rotate(keyId, 0, inherit(keyId)),
    () => keys().revoke(keyId),
    () => bans().ban(keyId, HOUR),
    () => bans().unban(banned.keyId),
  ];
  await without(service, 'audit_entries', async () => {
    for (const action of actions) {
      await expect(action()).rejects.toThrow('audit_entries');
    }
  });
  expect(await state()).toEqual(before);
});

test('the log contains neither keys nor their digests', async () => {
  const one = await aKey();
  const other = await keys().issue({ client: one.client });
  const rotated = await keys().rotate(one.keyId, 0, inherit(one.keyId));
  await bans().ban(rotated.record.id, HOUR);
  await keys().revoke(rotated.record.id);
  const { rows } = await service.database.pool.query<{ text: string }>(
    'SELECT audit_entries::text AS text FROM audit_entries',
  );
  const trail = rows.map(({ text }) => text).join('\n');
  const digests = await service.database.pool.query<{ digest: string }>('SELECT digest FROM api_keys');
  const secrets = [one.key, other.key, rotated.key, ...digests.rows.map(({ digest }) => digest)];
  expect(trail).toContain('key.rotated');
  expect(secrets.length).toBeGreaterThanOrEqual(6);
  expect(secrets.filter((secret) => trail.includes(secret))).toEqual([]);
  expect(trail).not.toContain('psk_live_');
});

test.each([
  "UPDATE audit_entries SET actor = 'nobody'",
  'DELETE FROM audit_entries',
  'TRUNCATE audit_entries',
])('entries are immutable: %s is refused', async (statement) => {
  await aKey();
  const count = async () =>
    (await service.database.pool.query<object>('SELECT count(*) FROM audit_entries')).rows[0];
  const before = await count();
  await expect(service.database.pool.query(statement)).rejects.toThrow('The audit trail is append-only');
  expect(await count()).toEqual(before);
});
