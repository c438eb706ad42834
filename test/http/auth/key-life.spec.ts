import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { type TestService, startService } from '../../support/service';

let database: TestDatabase;
let service: TestService;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ database });
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

async function lastUseOf(keyId: number): Promise<number | undefined> {
  const { rows } = await database.pool.query<{ last_used_at: Date | null }>(
    `SELECT last_used_at FROM api_keys WHERE id = $1`,
    [keyId],
  );
  return rows[0]!.last_used_at?.getTime();
}

describe('a key that expires', () => {
  it.each([
    ['at a whole second', 60_000],
    ['within a second', 60_123],
  ])('%s is valid until the last millisecond before', async (_when, lifeMs) => {
    const expiresAt = new Date(service.clock.now() + lifeMs);
    const caller = await service.caller({ expiresAt });
    service.clock.advance(lifeMs - 1);
    expect((await caller.get('/pets')).status).toBe(200);
    service.clock.advance(1);
    expect((await caller.get('/pets')).status).toBe(401);
  });

  it('is counted against the address once it has expired', async () => {
    const caller = await service.caller({ expiresAt: new Date(service.clock.now() + 1) });
    service.clock.advance(60_000);
    const answer = await caller.get('/pets');
    expect([answer.status, answer.headers.get('ratelimit-policy')]).toEqual([401, '"minute";q=60;w=60']);
  });
});

describe('a stored key', () => {
  it('consists of its digest and last four characters, and never the key itself', async () => {
    const { key, keyId } = await service.issueKey();
    const { rows } = await database.pool.query<{ last4: string; row: string }>(
      `SELECT last4, api_keys::text AS row FROM api_keys WHERE id = $1`,
      [keyId],
    );
    expect(rows[0]!.last4).toBe(key.slice(-4));
    expect(rows[0]!.row).not.toContain(key.slice(9, 20));
  });
});

it('the latest use of each used key is saved before the service stops', async () => {
  const used = await service.issueKey();
  const unused = await service.issueKey();
  const expired = await service.issueKey({ expiresAt: new Date(service.clock.now()) });
  const callerWith = (key: string) => service.anonymous().with({ 'X-API-Key': key });
  await callerWith(used.key).get('/pets');
  service.clock.advance(1_234);
  await callerWith(used.key).get('/no/such/path');
  const lastUse = service.clock.now();
  await callerWith(expired.key).get('/pets');
  await service.close();
  expect([
    await lastUseOf(used.keyId),
    await lastUseOf(unused.keyId),
    await lastUseOf(expired.keyId),
  ]).toEqual([lastUse, undefined, undefined]);

  // A clock that is behind does not take it back.
  service = await startService({ database });
  service.clock.set(lastUse - 60_000);
  await callerWith(used.key).get('/pets');
  await service.close();
  expect(await lastUseOf(used.keyId)).toBe(lastUse);
  service = await startService({ database });
});
