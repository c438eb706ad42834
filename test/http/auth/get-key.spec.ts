import { KeysService } from '../../../src/modules/auth';
import { BanRegister } from '../../../src/modules/quotas';
import { until } from '../../support/eventually';
import { COUNTED, call, limitsIn, standing, statuses } from '../../support/limits';
import { useService } from '../../support/use-service';

interface Key {
  id: number;
  endsWith: string;
  client: string;
  plan: string;
  scopes: string[];
  createdAt: string;
  expiresAt?: string;
  overlapEndsAt?: string;
}

const DAY = 86_400_000;

const service = useService();
const callerWith = (key: string) => service.anonymous().with({ 'X-API-Key': key });

async function stored(keyId: number): Promise<{ created_at: Date; expires_at: Date | null }> {
  const { rows } = await service.database.pool.query<{ created_at: Date; expires_at: Date | null }>(
    `SELECT created_at, expires_at FROM api_keys WHERE id = $1`,
    [keyId],
  );
  return rows[0]!;
}

function rotate(keyId: number, overlapMs: number) {
  return service.app.get(KeysService).rotate(keyId, overlapMs, () => Promise.resolve());
}

describe('200', () => {
  it('identifies the key and its client without revealing the key', async () => {
    const { key, keyId, client } = await service.issueKey({ plan: 'pro' });
    const answer = await callerWith(key).get<Key>('/key');
    expect(answer.body).toEqual({
      id: keyId,
      endsWith: key.slice(-4),
      client,
      plan: 'pro',
      scopes: ['read', 'write'],
      createdAt: (await stored(keyId)).created_at.toISOString(),
    });
  });

  it.each(['read', 'write'] as const)('for a key with the scope %s alone', async (scope) => {
    const caller = await service.caller({ scopes: [scope] });
    expect((await caller.get<Key>('/key')).body.scopes).toEqual([scope]);
  });

  it('shows when the key expires', async () => {
    const expiresAt = new Date(service.clock.now() + DAY);
    const { body } = await (await service.caller({ expiresAt })).get<Key>('/key');
    expect([body.expiresAt, 'overlapEndsAt' in body]).toEqual([expiresAt.toISOString(), false]);
  });

  it('counts like any other request', async () => {
    const caller = await service.caller({ plan: 'free' });
    expect(limitsIn(await caller.get('/key'))).toMatchObject({ limit: 60, remaining: 59 });
    expect(limitsIn(await caller.send('HEAD', '/key')).remaining).toBe(58);
  });
});

describe('shortly after a rotation', () => {
  it('the old key shows when the overlap ends; the new key has no overlap', async () => {
    const old = await service.issueKey();
    const caller = callerWith(old.key);
    expect((await caller.get<Key>('/key')).body.overlapEndsAt).toBeUndefined();
    const { key } = await rotate(old.keyId, DAY);
    await until(async () => (await caller.get<Key>('/key')).body.overlapEndsAt !== undefined);
    const { overlapEndsAt, expiresAt } = (await caller.get<Key>('/key')).body;
    const end = (await stored(old.keyId)).expires_at!.toISOString();
    expect([overlapEndsAt, expiresAt]).toEqual([end, end]);
    const successor = (await callerWith(key).get<Key>('/key')).body;
    expect(successor).not.toHaveProperty('overlapEndsAt');
    expect(successor.client).toBe(old.client);
  });

  it('the overlap of a key that expires earlier ends when the key expires', async () => {
    const expiresAt = new Date(Math.max(Date.now(), service.clock.now()) + DAY);
    const { key, keyId } = await service.issueKey({ expiresAt });
    await rotate(keyId, 7 * DAY);
    const { body } = await callerWith(key).get<Key>('/key');
    expect(body).toMatchObject({
      overlapEndsAt: expiresAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
    });
  });
});

it('a key can be rotated only once: otherwise the new key would expire with the old overlap', async () => {
  const { keyId } = await service.issueKey();
  const { record } = await rotate(keyId, DAY);
  await expect(rotate(keyId, DAY)).rejects.toMatchObject({ code: 'key_rotated' });
  expect((await rotate(record.id, DAY)).record.expiresAt).toBeNull();
});

it('shows a new plan shortly after the change', async () => {
  const { key, client } = await service.issueKey({ plan: 'free' });
  const caller = callerWith(key);
  expect((await caller.get<Key>('/key')).body.plan).toBe('free');
  await service.database.pool.query(`UPDATE clients SET plan = 'pro' WHERE name = $1`, [client]);
  await until(async () => (await caller.get<Key>('/key')).body.plan === 'pro');
});

it('401 without a key, and shortly after a revocation', async () => {
  expect((await service.anonymous().get('/key')).status).toBe(401);
  const { key, keyId } = await service.issueKey();
  expect((await callerWith(key).get('/key')).status).toBe(200);
  await service.app.get(KeysService).revoke(keyId);
  await until(async () => (await callerWith(key).get('/key')).status === 401);
});

it('400 for a query parameter', async () => {
  expect((await (await service.caller()).get('/key?id=1')).status).toBe(400);
});

it('429 over the limit', async () => {
  const caller = await service.caller({ perMinute: 1, perDay: 100 });
  expect(await statuses(caller, 2, '/key')).toEqual([200, 429]);
});

it('403 while the key is banned', async () => {
  const { key, keyId } = await service.issueKey();
  await call(callerWith(key), 1, COUNTED);
  await service.app.get(BanRegister).ban(keyId);
  await until(async () => (await standing(callerWith(key))).ban.banned);
  expect(await statuses(callerWith(key), 1, '/key')).toEqual([403]);
});
