import type { Key } from '#libs/client';
import { KeysService } from '../../../../src/modules/auth';
import { until } from '../../../support/eventually';
import { useService } from '../../../support/use-service';
import { startService } from '../../../support/service';

const DAY = 86_400_000;

const service = useService();

interface StoredKey {
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  last4: string;
  row: string;
}

async function stored(keyId: number): Promise<StoredKey> {
  const { rows } = await service.database.pool.query<StoredKey>(
    `SELECT *, api_keys::text AS row FROM api_keys WHERE id = $1`,
    [keyId],
  );
  return rows[0]!;
}

function rotate(keyId: number, overlapMs: number) {
  return service.app.get(KeysService).rotate(keyId, overlapMs);
}

describe('200', () => {
  it('identifies the key and its client without revealing the key', async () => {
    const { key, keyId, client } = await service.issueKey({ plan: 'pro' });
    const answer = await service.callerWith(key).get<Key>('/key');
    expect(answer.body).toEqual({
      id: keyId,
      endsWith: key.slice(-4),
      client,
      plan: 'pro',
      scopes: ['read', 'write'],
      createdAt: (await stored(keyId)).created_at.toISOString(),
    });
  });

  it('shows what the key is for, and so does the key that replaces it', async () => {
    const { client } = await service.issueKey();
    const { key, record } = await service.app.get(KeysService).issue({ client, name: 'price list' });
    const successor = await rotate(record.id, DAY);
    for (const one of [key, successor.key]) {
      expect((await service.callerWith(one).get<Key>('/key')).body.name).toBe('price list');
    }
  });
});

describe('shortly after a rotation', () => {
  it('the old key shows when the overlap ends; the new key has no overlap', async () => {
    const old = await service.issueKey();
    const caller = service.callerWith(old.key);
    expect((await caller.get<Key>('/key')).body.overlapEndsAt).toBeUndefined();
    const { key } = await rotate(old.keyId, DAY);
    await until(async () => (await caller.get<Key>('/key')).body.overlapEndsAt !== undefined);
    const { overlapEndsAt, expiresAt } = (await caller.get<Key>('/key')).body;
    const end = (await stored(old.keyId)).expires_at!.toISOString();
    expect([overlapEndsAt, expiresAt]).toEqual([end, end]);
    const successor = (await service.callerWith(key).get<Key>('/key')).body;
    expect(successor).not.toHaveProperty('overlapEndsAt');
    expect(successor.client).toBe(old.client);
  });

  it('the overlap of a key that expires earlier ends when the key expires', async () => {
    const expiresAt = new Date(Math.max(Date.now(), service.clock.now()) + DAY);
    const { key, keyId } = await service.issueKey({ expiresAt });
    await rotate(keyId, 7 * DAY);
    const { body } = await service.callerWith(key).get<Key>('/key');
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

const lastUseOf = async (keyId: number) => (await stored(keyId)).last_used_at?.getTime();

it('a key is valid until the last millisecond before it expires; from then on its requests count for the address', async () => {
  const lifeMs = 60_123;
  const caller = await service.caller({ expiresAt: new Date(service.clock.now() + lifeMs) });
  service.clock.advance(lifeMs - 1);
  expect((await caller.get('/pets')).status).toBe(200);
  service.clock.advance(1);
  const answer = await caller.get('/pets');
  expect([answer.status, answer.headers.get('ratelimit-policy')]).toEqual([401, '"minute";q=60;w=60']);
});

// What the table holds is what a thief of a backup would read.
it('a key is stored as its digest and last four characters, and never itself', async () => {
  const { key, keyId } = await service.issueKey();
  const { last4, row } = await stored(keyId);
  expect(last4).toBe(key.slice(-4));
  expect(row).not.toContain(key.slice(9, 20));
});

it('the latest use of each used key is saved before the service stops', async () => {
  const { database } = service;
  let running = await startService({ database });
  const used = await service.issueKey();
  const unused = await service.issueKey();
  const expired = await service.issueKey({ expiresAt: new Date(running.clock.now()) });
  await running.callerWith(used.key).get('/pets');
  running.clock.advance(1_234);
  await running.callerWith(used.key).get('/no/such/path');
  const lastUse = running.clock.now();
  await running.callerWith(expired.key).get('/pets');
  await running.close();
  expect([
    await lastUseOf(used.keyId),
    await lastUseOf(unused.keyId),
    await lastUseOf(expired.keyId),
  ]).toEqual([lastUse, undefined, undefined]);

  // A clock that is behind does not take it back.
  running = await startService({ database });
  running.clock.set(lastUse - 60_000);
  await running.callerWith(used.key).get('/pets');
  await running.close();
  expect(await lastUseOf(used.keyId)).toBe(lastUse);
});
