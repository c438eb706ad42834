import { ClientsService } from '../../../../src/modules/auth';
import { QuotasService } from '../../../../src/modules/quotas';
import { DEMO_CLIENT, SeedService } from '../../../../src/store/seed';
import { whileTableFails } from '../../../support/disturbances';
import { useService } from '../../../support/use-service';
import { type RecordedEntry, auditEntries } from '../../../support/audit';

const service = useService();
const clients = () => service.app.get(ClientsService);
const bans = () => service.app.get(QuotasService);

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

type Key = Awaited<ReturnType<typeof aKey>>;

async function aKey() {
  const { client, keyId, key } = await service.issueKey({ plan: 'free' });
  return { client, clientId: (await clients().get(client)).id, keyId, key };
}

const instant = (later: number) => new Date(service.clock.now() + later).toISOString();

/** Changes of a client or its key, each with the action and the details that are recorded. */
const CHANGES: [action: string, work: (of: Key) => Promise<unknown>, details: object][] = [
  [
    'client.plan_changed',
    ({ client }) => clients().setPlan(client, { plan: 'enterprise', perMinute: 5, perDay: 50 }),
    {
      plan: { before: 'free', after: 'enterprise' },
      perMinute: { before: null, after: 5 },
      perDay: { before: null, after: 50 },
    },
  ],
  [
    'client.renamed',
    ({ client }) => clients().rename(client, `${client}-renamed`),
    { name: { before: expect.any(String), after: expect.stringMatching(/-renamed$/) } },
  ],
  ['client.deleted', ({ client }) => clients().remove(client), { revokedKeyIds: [expect.any(Number)] }],
  [
    'key.updated',
    ({ keyId }) => clients().updateKey(keyId, { scopes: ['read'] }),
    { scopes: { before: ['read', 'write'], after: ['read'] } },
  ],
  ['quota.reset', ({ clientId }) => bans().reset(clientId), {}],
  ['key.revoked', ({ keyId }) => clients().revokeKey(keyId), {}],
  ['key.banned', ({ keyId }) => bans().ban(keyId, 2 * HOUR), { level: 0, bannedUntil: expect.any(String) }],
];

describe('exactly one correct entry is written for', () => {
  test.each(CHANGES)('%s', async (action, work, details) => {
    const known = await aKey();
    const { clientId, client, keyId } = known;
    const clientName = action === 'client.renamed' ? `${client}-renamed` : client;
    const subject = { clientId, clientName, keyId: action.startsWith('key') ? keyId : null };
    const at = new Date(service.clock.now());
    expect(await added(() => work(known))).toEqual([{ at, actor: SERVICE, action, ...subject, details }]);
  });

  test('client.created and key.issued, with what was agreed', async () => {
    const expiresAt = new Date(service.clock.now() + HOUR);
    const entries = await added(async () => {
      await clients().create('new', { plan: 'enterprise', perMinute: 7, perDay: 70 });
      await clients().issueKey({ client: 'new', scopes: ['read'], expiresAt });
    });
    // The entries have nothing else, so they have no key.
    expect(entries.map(({ action, clientName, details }) => [action, clientName, details])).toEqual([
      ['client.created', 'new', { plan: 'enterprise', perMinute: 7, perDay: 70 }],
      ['key.issued', 'new', { name: null, scopes: ['read'], expiresAt: expiresAt.toISOString() }],
    ]);
  });

  test('key.rotated, with what happened to the old key and the id of the new one', async () => {
    const { keyId } = await aKey();
    let newKeyId = 0;
    const entries = await added(async () => {
      newKeyId = (await clients().rotateKey(keyId, HOUR)).record.id;
    });
    const after = (await clients().findKey(keyId)).expiresAt!.toISOString();
    const details = {
      newKeyId,
      scopes: ['read', 'write'],
      overlapSeconds: 3_600,
      expiresAt: { before: null, after },
    };
    expect(entries).toMatchObject([{ action: 'key.rotated', keyId }]);
    expect(entries[0]!.details).toEqual(details);
  });

  test('key.unbanned, with the ban that it ended', async () => {
    const { keyId } = await aKey();
    await bans().ban(keyId, 2 * HOUR);
    const level = { before: 0, after: 0 };
    const details = { level, bannedUntil: { before: instant(2 * HOUR), after: instant(0) } };
    expect(await added(() => bans().unban(keyId))).toMatchObject([
      { action: 'key.unbanned', keyId, details },
    ]);
  });
});

test('the catalogue, client and key of a first start are attributed to the service', async () => {
  const entries = await added(() => service.app.get(SeedService).seed());
  expect(entries.map(({ actor, action, clientName }) => [actor, action, clientName])).toEqual([
    [SERVICE, 'client.created', DEMO_CLIENT],
    [SERVICE, 'key.issued', DEMO_CLIENT],
    [SERVICE, 'catalogue.imported', null],
  ]);
});

test('a command that changes nothing writes no entry', async () => {
  const { client, keyId } = await aKey();
  await clients().revokeKey(keyId);
  const idle = async () => {
    await clients().revokeKey(keyId);
    await bans().unban(keyId);
    await clients().setPlan(client, { plan: 'free' });
    await clients().rename(client, client);
  };
  expect(await added(idle)).toEqual([]);
});

test('a command that fails writes no entry', async () => {
  const { client } = await aKey();
  const revoked = await aKey();
  await clients().revokeKey(revoked.keyId);
  const failures = [
    () => clients().create(client, { plan: 'free' }),
    () => clients().setPlan('nobody', { plan: 'pro' }),
    () => clients().issueKey({ client: 'nobody' }),
    () => clients().rotateKey(revoked.keyId, 0),
    () => clients().revokeKey(4711),
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
    const query = `SELECT clients::text FROM clients UNION ALL SELECT api_keys::text FROM api_keys ORDER BY 1`;
    return (await service.database.pool.query<object>(query)).rows;
  };
  const before = await state();
  const actions = [
    () => clients().create('unentered', { plan: 'free' }),
    () => clients().setPlan(client, { plan: 'pro' }),
    () => clients().issueKey({ client }),
    () => clients().rotateKey(keyId, 0),
    () => clients().revokeKey(keyId),
    () => bans().ban(keyId, HOUR),
    () => bans().unban(banned.keyId),
  ];
  await whileTableFails(service, 'audit_entries', async () => {
    for (const action of actions) {
      await expect(action()).rejects.toThrow('division by zero');
    }
  });
  expect(await state()).toEqual(before);
});

test.each([
  "UPDATE audit_entries SET actor = 'nobody'",
  'DELETE FROM audit_entries',
  'TRUNCATE audit_entries',
])('entries are immutable: %s is refused', async (statement) => {
  await aKey();
  await expect(service.database.pool.query(statement)).rejects.toThrow('The audit trail is append-only');
});
