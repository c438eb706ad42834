import type { Key } from '#libs/client';
import { ClientsService } from '../../../../src/modules/auth';
import { digestOf, newApiKey } from '../../../../src/modules/auth/api-key';
import type { ApiCaller, ErrorBody } from '../../../support/api-caller';
import { eventually, until } from '../../../support/eventually';
import { call, limitsIn, getRateLimit } from '../../../support/limits';
import { whileTableFails } from '../../../support/disturbances';
import { startService } from '../../../support/service';
import { useInstances } from '../../../support/use-service';

// test/unit/modules/auth/credentials.spec.ts tests which header fields may hold a key.

const DAY = 86_400_000;

const services = useInstances({}, {});
const service = services[0]!;
const clients = () => service.app.get(ClientsService);
// Requests with an unknown key count toward the limit of the address, which begins anew after a minute.
beforeEach(() => services.forEach(({ clock }) => clock.advance(60_000)));

function sql(text: string, ...values: unknown[]) {
  return service.database.pool.query(text, values);
}

interface StoredKey {
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  last4: string;
  row: string;
}

async function stored(keyId: number): Promise<StoredKey> {
  const { rows } = await sql('SELECT *, api_keys::text AS row FROM api_keys WHERE id = $1', keyId);
  return rows[0] as StoredKey;
}

describe('GET /key', () => {
  const keyOf = async (key: string) => (await service.callerWith(key).get<Key>('/key')).body;

  it('identifies the key and its client without revealing the key', async () => {
    const { key, keyId, client } = await service.issueKey({ plan: 'pro' });
    expect(await keyOf(key)).toEqual({
      id: keyId,
      endsWith: key.slice(-4),
      client,
      plan: 'pro',
      scopes: ['read', 'write'],
      createdAt: (await stored(keyId)).created_at.toISOString(),
    });
  });

  it('shows shortly after a rotation when the overlap of the old key ends; the new one has its name and no overlap', async () => {
    const { client } = await service.issueKey();
    const old = await clients().issueKey({ client, name: 'price list' });
    expect((await keyOf(old.key)).overlapEndsAt).toBeUndefined();
    const { key } = await clients().rotateKey(old.record.id, DAY);
    await until(async () => (await keyOf(old.key)).overlapEndsAt !== undefined);
    const end = (await stored(old.record.id)).expires_at!.toISOString();
    expect(await keyOf(old.key)).toMatchObject({ name: 'price list', overlapEndsAt: end, expiresAt: end });
    const successor = await keyOf(key);
    expect(successor).toMatchObject({ name: 'price list', client });
    expect(successor).not.toHaveProperty('overlapEndsAt');
  });

  it('shows the overlap of a key that expires earlier as ending when the key expires', async () => {
    const expiresAt = new Date(service.clock.now() + DAY);
    const { key, keyId } = await service.issueKey({ expiresAt });
    await clients().rotateKey(keyId, 7 * DAY);
    const end = expiresAt.toISOString();
    expect(await keyOf(key)).toMatchObject({ overlapEndsAt: end, expiresAt: end });
  });
});

it('A key can be rotated only once: otherwise the new key would expire with the old overlap', async () => {
  const { keyId } = await service.issueKey();
  const { record } = await clients().rotateKey(keyId, DAY);
  await expect(clients().rotateKey(keyId, DAY)).rejects.toMatchObject({ code: 'key_rotated' });
  expect((await clients().rotateKey(record.id, DAY)).record.expiresAt).toBeNull();
});

it('A key is valid until the last millisecond before it expires; from then on its requests count for the address', async () => {
  const lifeMs = 60_123;
  const caller = await service.caller({ expiresAt: new Date(service.clock.now() + lifeMs) });
  service.clock.advance(lifeMs - 1);
  expect((await caller.get('/pets')).status).toBe(200);
  service.clock.advance(1);
  const answer = await caller.get('/pets');
  expect([answer.status, answer.headers.get('ratelimit-policy')]).toEqual([401, '"minute";q=60;w=60']);
});

// A thief of a backup can read everything that the table holds.
it('A key is stored as its digest and last four characters, and never itself', async () => {
  const { key, keyId } = await service.issueKey();
  const { last4, row } = await stored(keyId);
  expect(last4).toBe(key.slice(-4));
  expect(row).not.toContain(key.slice(9, 20));
});

it('The latest use of each used key is saved before the service stops, and a clock that is behind does not take it back', async () => {
  const [used, unused] = [await service.issueKey(), await service.issueKey()];
  const expired = await service.issueKey({ expiresAt: new Date(service.clock.now()) });
  const lastUse = service.clock.now() + 1_234;
  for (const now of [lastUse, lastUse - 60_000]) {
    const running = await startService({ database: service.database });
    running.clock.set(now - 1);
    await running.callerWith(used.key).get('/pets');
    running.clock.set(now);
    await running.callerWith(used.key).get('/no/such/path');
    if (now === lastUse) await running.callerWith(expired.key).get('/pets');
    await running.close();
    const uses = await Promise.all([used, unused, expired].map(({ keyId }) => stored(keyId)));
    expect(uses.map((one) => one.last_used_at?.getTime())).toEqual([lastUse, undefined, undefined]);
  }
});

describe('401', () => {
  /** Keys that were valid once, and keys that never were. */
  const INVALID: (() => Promise<string>)[] = [
    async () => `${(await service.issueKey()).key.slice(0, -1)}_`,
    () => Promise.resolve('hunter2'),
    () => Promise.resolve(newApiKey()),
    async () => (await service.issueKey({ expiresAt: new Date(service.clock.now() - 1) })).key,
    async () => {
      const { key, keyId } = await service.issueKey();
      await clients().revokeKey(keyId);
      return key;
    },
  ];

  it('missing_api_key: with a valid key in the URL', async () => {
    const { key } = await service.issueKey();
    for (const name of ['api_key', 'access_token', 'X-API-Key']) {
      const answer = await service.anonymous().get<ErrorBody>(`/pets?${name}=${key}`);
      expect(answer.body).toMatchObject({ code: 'missing_api_key', status: 401 });
      expect(answer.text).not.toContain(key);
    }
  });

  it('invalid_api_key: is the same whether the key is mistyped, unknown, expired or revoked, and never reveals it', async () => {
    const answers = new Set<string>();
    for (const aKey of INVALID) {
      const key = await aKey();
      const fields: Record<string, string>[] = [{ 'X-API-Key': key }, { Authorization: `Bearer ${key}` }];
      for (const field of fields) {
        const answer = await service.anonymous().with(field).get<ErrorBody>('/pets');
        expect(answer.text + JSON.stringify([...answer.headers])).not.toContain(key);
        expect(answer.body).toMatchObject({ code: 'invalid_api_key', status: 401 });
        const challenge = 'Bearer realm="petstore", error="invalid_token"';
        expect(answer.headers.get('www-authenticate')).toBe(challenge);
        const transport = ['date', 'connection', 'keep-alive'];
        const names = [...answer.headers.keys()].filter((name) => !transport.includes(name));
        answers.add(JSON.stringify([answer.status, answer.text, names]));
      }
    }
    expect(answers.size).toBe(1);
  });

  it('invalid_api_key: needs only one look-up for an unknown key that is sent repeatedly, and none for a mistyped one', async () => {
    const unknown = service.callerWith(newApiKey());
    const mistyped = service.anonymous().with({ 'X-API-Key': `psk_live_${'0'.repeat(36)}` });
    // The result of a look-up is used for less than a second. The time stands still, so that it does not expire.
    const time = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    await unknown.get('/pets');
    const answers = await whileTableFails(service, 'api_keys', async () => [
      ...(await call(unknown, 2, '/pets')),
      ...(await call(mistyped, 2, '/pets')),
    ]);
    time.mockRestore();
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  });
});

const callersWith = (key: string) => services.map((one) => one.callerWith(key));

/** Issues a key, and waits until both instances know it. By default, no test reaches its limits, because waiting sends many requests. */
async function aKnownKey(plan?: string) {
  const issued = await service.issueKey({ plan });
  const callers = callersWith(issued.key);
  await allGet(200, callers);
  return { ...issued, callers };
}

/** Waits until each caller gets this status. */
function allGet(status: number, callers: ApiCaller[], path = '/rate-limit'): Promise<unknown> {
  return Promise.all(callers.map((caller) => until(async () => (await caller.get(path)).status === status)));
}

it('Every instance soon refuses a key that was revoked, of a deleted client, issued meanwhile, or deleted with psql, and no other', async () => {
  const known = await Promise.all(Array.from({ length: 5 }, () => aKnownKey()));
  const [revoked, ended, late, deleted, bystander] = known.map(({ keyId, client }) => ({ keyId, client }));
  await clients().revokeKey(revoked!.keyId);
  await clients().remove(ended!.client);
  // The same happens if a client is deleted while a key is issued to it. The service ignores which time `deleted_at` has.
  await sql('UPDATE clients SET deleted_at = now() WHERE name = $1', late!.client);
  await sql('DELETE FROM api_keys WHERE id = $1', deleted!.keyId);
  for (const { callers, keyId } of known) {
    await allGet(keyId === bystander!.keyId ? 200 : 401, callers);
  }
});

describe('Every instance soon applies', () => {
  it('a change of the plan, from the next request on: refused requests used no quota', async () => {
    const { client, callers } = await aKnownKey('free');
    await call(callers[0]!, 65);
    await clients().setPlan(client, { plan: 'pro' });
    const limits = () => Promise.all(callers.map(async (one) => (await getRateLimit(one)).minute.limit));
    await until(async () => (await limits()).every((limit) => limit === 300));
    const [answer] = await call(callers[0]!, 1);
    expect([answer!.status, limitsIn(answer!).remaining]).toEqual([200, 239]);
  });

  it('other scopes, another name and another expiry', async () => {
    const { keyId, callers } = await aKnownKey();
    const expiresAt = new Date(service.clock.now() + DAY);
    await clients().updateKey(keyId, { name: 'price list', scopes: ['read'], expiresAt });
    const key = { name: 'price list', scopes: ['read'], expiresAt: expiresAt.toISOString() };
    for (const caller of callers) {
      await eventually(async () => expect((await caller.get('/key')).body).toMatchObject(key));
      expect((await caller.post('/categories', { name: 'Dogs' })).status).toBe(403);
    }
  });

  it('a key that was looked up before it existed', async () => {
    const { client } = await service.issueKey();
    const early = newApiKey();
    const hopeful = callersWith(early);
    await allGet(401, hopeful);
    await sql(
      `INSERT INTO api_keys (client_id, digest, last4, scopes) SELECT id, $1, '----', '{read}' FROM clients WHERE name = $2`,
      digestOf(early),
      client,
    );
    await allGet(200, hopeful);
  });
});

it('While no key can be looked up, a known one is shown the limits of its client, others those of their address', async () => {
  const { callers } = await aKnownKey();
  const [caller, stranger] = [callers[0]!, service.callerWith(newApiKey())];
  await whileTableFails(service, 'api_keys', async () => {
    // For less than a second, the service uses the key that it has read before.
    await until(async () => (await caller.get('/categories')).status === 500);
    for (const [one, limit] of [
      [caller, 1_000_000],
      [stranger, 60],
    ] as const) {
      const answer = await one.get('/categories');
      expect([answer.status, limitsIn(answer).limit]).toEqual([500, limit]);
    }
  });
});
