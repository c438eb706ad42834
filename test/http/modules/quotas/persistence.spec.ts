import { ClientsService } from '../../../../src/modules/auth';
import { QuotasService } from '../../../../src/modules/quotas';
import type { ErrorBody } from '../../../support/api-caller';
import { Arrange } from '../../../support/builders';
import { until } from '../../../support/eventually';
import { COUNTED, MINUTE, earnBan, limitsIn, standing, statuses, without } from '../../../support/limits';
import { type TestService, startService } from '../../../support/service';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

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

const DAY = 24 * 60 * MINUTE;

/** Stops the service and starts another one over the same database at the same time of day. */
async function restart(): Promise<void> {
  const now = service.clock.now();
  await service.close();
  service = await startService({ database });
  service.clock.set(now);
}

// The harness holds each of these answers to the Error object and to all header fields.
describe('a failure within the limits is answered like any other', () => {
  it('when usage cannot be read, and is refunded', async () => {
    const caller = await service.caller({ plan: 'free' });
    const failed = await without(service, 'usage_days', () => caller.get<ErrorBody>(COUNTED));
    expect([failed.status, failed.body.code]).toEqual([500, 'internal_error']);
    expect(limitsIn(await caller.get(COUNTED))).toMatchObject({ limit: 60, remaining: 59 });
  });

  it.each([
    ['an enterprise plan without limits', `plan = 'enterprise', per_minute = NULL, per_day = NULL`],
    ['a plan that only a newer version knows', `plan = 'gold'`],
  ])('when the client has %s in the database: it is never unlimited', async (_what, change) => {
    const { key, client } = await service.issueKey({ plan: 'free' });
    const caller = service.callerWith(key);
    await caller.get(COUNTED);
    await service.database.pool.query(`UPDATE clients SET ${change} WHERE name = $1`, [client]);
    await until(async () => (await caller.get('/rate-limit')).status === 503);
    const failed = await caller.get<ErrorBody>(COUNTED);
    expect([failed.status, failed.body.code, failed.headers.has('retry-after')]).toEqual([
      503,
      'service_unavailable',
      true,
    ]);
    expect(await statuses(caller, 1, '/no/such/path')).toEqual([503]);
    await service.database.pool.query(`UPDATE clients SET plan = 'free' WHERE name = $1`, [client]);
    await until(async () => (await caller.get('/rate-limit')).status === 200);
    expect(limitsIn(await caller.get(COUNTED)).remaining).toBe(58);
  });
});

it('a restart keeps what is left of the minute, the count of the day, and a ban, to the second, with its level', async () => {
  const keys = [
    await service.issueKey({ perMinute: 3, perDay: 1_000 }),
    await service.issueKey({ perMinute: 100, perDay: 10 }),
    await service.issueKey({ perMinute: 1, perDay: 1_000 }),
  ];
  const callers = () => keys.map(({ key }) => service.callerWith(key));
  const [minute, day, banned] = callers();
  await statuses(banned!, 1);
  await earnBan(banned!, service);
  await statuses(minute!, 2);
  await statuses(day!, 7);
  service.clock.advance(MINUTE - 1);
  await restart();
  const [minuteNow, dayNow, bannedNow] = callers();
  expect(await statuses(minuteNow!, 2)).toEqual([200, 429]);
  expect(await statuses(dayNow!, 4)).toEqual([200, 200, 200, 429]);
  const refused = await bannedNow!.get(COUNTED);
  expect([refused.status, limitsIn(refused).retryAfter]).toEqual([403, 61]);
  service.clock.advance(1);
  expect(await statuses(minuteNow!, 1)).toEqual([200]);
  service.clock.advance(MINUTE);
  await restart();
  const [, dayLater, free] = callers();
  expect(await statuses(dayLater!, 1)).toEqual([429]);
  expect(await statuses(free!, 1)).toEqual([200]);
  expect((await standing(free!)).ban).toMatchObject({ banned: false, nextBanSeconds: 600 });
  service.clock.advance(DAY);
  expect(limitsIn(await dayLater!.get(COUNTED)).remaining).toBe(9);
});

it.each([
  ['even if the request was saved before', 0],
  ['even if its day is over', 200],
])('a restart keeps what was refunded of the minute, %s', async (_what, pause) => {
  const { key } = await service.issueKey({ perMinute: 2, perDay: 1_000 });
  service.clock.set(Math.ceil(service.clock.now() / DAY) * DAY - 100);
  const caller = service.callerWith(key);
  const other = await service.caller();
  const { id } = await new Arrange(other).pet();
  const holder = await database.pool.connect();
  await holder.query('BEGIN; LOCK TABLE pets');
  const waiting = caller.with({ 'If-None-Match': '*' }).get(`/pets/${id}`);
  await until(async () => (await standing(caller)).minute.remaining === 1);
  service.clock.advance(pause);
  expect(await statuses(caller, 1)).toEqual([200]);
  await other.get('/usage');
  await holder.query('ROLLBACK');
  holder.release();
  expect(limitsIn(await waiting).remaining).toBe(1);
  await restart();
  expect(await statuses(service.callerWith(key), 2)).toEqual([200, 429]);
});

it('a restart keeps what was refunded of the day, and a reset forgets it', async () => {
  const { key, client } = await service.issueKey({ perMinute: 100, perDay: 1 });
  const { id } = await new Arrange(await service.caller()).pet();
  const refunded = () => service.callerWith(key).with({ 'If-None-Match': '*' }).get(`/pets/${id}`);
  for (const remaining of [1, 0]) {
    expect(limitsIn(await refunded()).remaining).toBe(remaining);
    await restart();
  }
  service.clock.advance(1_000);
  await service.app.get(QuotasService).reset((await service.app.get(ClientsService).get(client)).id);
  await restart();
  expect(limitsIn(await refunded()).remaining).toBe(1);
});

it('the counts are saved while the service runs, and only once', async () => {
  const { key } = await service.issueKey({ perMinute: 4711, perDay: 4711 });
  await statuses(service.callerWith(key), 5);
  await service.callerWith(key).get('/usage');
  await statuses(service.callerWith(key), 2);
  await restart();
  const { rows } = await database.pool.query<{ requests: number }>(
    `SELECT requests FROM usage_days JOIN clients ON clients.id = client_id WHERE per_day = 4711`,
  );
  expect(rows).toEqual([{ requests: 8 }]);
});
