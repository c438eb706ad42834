import { type TestDatabase, createTestDatabase } from '../../support/test-database';
import { type TestService, startService } from '../../support/service';
import { COUNTED, MINUTE, earnBan, limitsIn, standing, statuses } from '../../support/limits';

let database: TestDatabase;
let service: TestService;
const keys: Record<'counted' | 'banned' | 'written', string> = { counted: '', banned: '', written: '' };

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ database });
  keys.counted = (await service.issueKey({ perMinute: 100, perDay: 10 })).key;
  keys.banned = (await service.issueKey({ perMinute: 1, perDay: 1_000 })).key;
  keys.written = (await service.issueKey({ perMinute: 4711, perDay: 4711 })).key;
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

/** Stops the service and starts another one over the same database at the same time of day. */
async function restart(): Promise<void> {
  const now = service.clock.now();
  await service.close();
  service = await startService({ database });
  service.clock.set(now);
}

function callerWith(key: string) {
  return service.anonymous().with({ 'X-API-Key': key });
}

it('a restart keeps the count of the day', async () => {
  const key = keys.counted;
  await statuses(callerWith(key), 7);
  await restart();
  expect((await standing(callerWith(key))).day.remaining).toBe(3);
  expect(await statuses(callerWith(key), 4)).toEqual([200, 200, 200, 429]);
  await restart();
  expect(await statuses(callerWith(key), 1)).toEqual([429]);
  service.clock.set(Date.UTC(2026, 10, 22));
  await restart();
  expect(limitsIn(await callerWith(key).get(COUNTED)).remaining).toBe(9);
});

it('a restart keeps a ban, to the second, and its level', async () => {
  const key = keys.banned;
  await statuses(callerWith(key), 1);
  await earnBan(callerWith(key), service);
  service.clock.advance(MINUTE);
  await restart();
  const banned = await callerWith(key).get(COUNTED);
  expect([banned.status, limitsIn(banned).retryAfter]).toEqual([403, 60]);
  service.clock.advance(MINUTE - 1);
  expect(await statuses(callerWith(key), 1)).toEqual([403]);
  service.clock.advance(1);
  await restart();
  expect(await statuses(callerWith(key), 1)).toEqual([200]);
  expect((await standing(callerWith(key))).ban).toMatchObject({ banned: false, nextBanSeconds: 600 });
});

it('the counts are saved while the service runs, and only once', async () => {
  const key = keys.written;
  await statuses(callerWith(key), 5);
  await callerWith(key).get('/usage');
  await statuses(callerWith(key), 2);
  await service.close();
  const { rows } = await database.pool.query<{ requests: string }>(
    `SELECT requests FROM usage_days JOIN clients ON clients.id = client_id WHERE per_day = 4711`,
  );
  expect(rows).toEqual([{ requests: '8' }]);
  service = await startService({ database });
});
