import { DAY_MS } from '#libs/clock';
import { ClientsService } from '../../../../src/modules/auth';
import { Authenticator } from '../../../../src/modules/auth/authenticator';
import { DeprecatedCalls } from '../../../../src/modules/deprecations/deprecated-calls';
import { QuotasService } from '../../../../src/modules/quotas';
import { newBanState } from '../../../../src/modules/quotas/rules/bans';
import { QuotaRecords } from '../../../../src/modules/quotas/counters/quota-records';
import { until } from '../../../support/eventually';
import { MINUTE, statuses, COUNTED, earnBan, limitsIn, getRateLimit } from '../../../support/limits';
import { useInstances } from '../../../support/use-service';
import { lockWaits, whileHeld, whileTableFails } from '../../../support/disturbances';
import type { ErrorBody } from '../../../support/api-caller';
import { Arrange } from '../../../support/builders';
import { type TestService, startService } from '../../../support/service';
import { useDatabase } from '../../../support/test-database';

const instances = useInstances({}, {}, {});
const service = instances[0]!;
const overviewOf = (client: string) => service.app.get(QuotasService).overviewOf(client);
const written = () => service.app.get(QuotaRecords).flush();

describe('what a client has used, read from outside the server', () => {
  it('is the saved day, the saved minute, and every key with its bans', async () => {
    const { key, keyId, client } = await service.issueKey({ perMinute: 100, perDay: 10 });
    const issue = () => service.app.get(ClientsService).issueKey({ client });
    const others = [await issue(), await issue(), await issue()];
    const [banned, revoked, expired] = others.map(({ record }) => record.id) as [number, number, number];
    await service.app.get(ClientsService).revokeKey(revoked);
    await service.database.pool.query(`UPDATE api_keys SET expires_at = '2026-01-01' WHERE id = $1`, [
      expired,
    ]);
    await service.app.get(QuotasService).ban(banned);
    await service.app.get(QuotasService).ban(revoked);
    await statuses(service.callerWith(key), 4);
    await written();
    const until = new Date(service.clock.now() + 2 * MINUTE);
    expect(await overviewOf(client)).toEqual({
      client,
      plan: 'enterprise',
      minute: {
        limit: 100,
        used: 4,
        remaining: 96,
        resetAt: new Date(service.clock.now() + MINUTE),
      },
      day: { limit: 10, used: 4, remaining: 6, resetAt: new Date('2026-11-22T00:00:00.000Z') },
      keys: [
        { id: keyId, endsWith: key.slice(-4), state: 'active', bannedUntil: null, banLevel: 0 },
        ...(['banned', 'revoked', 'expired'] as const).map((state, index) => ({
          id: others[index]!.record.id,
          endsWith: others[index]!.key.slice(-4),
          state,
          banLevel: 0,
          bannedUntil: state === 'expired' ? null : until,
        })),
      ],
    });
  });

  it('excludes what was reset, and shows an exhausted day with nothing left', async () => {
    const { key, client } = await service.issueKey({ perMinute: 100, perDay: 3 });
    const { id } = await service.app.get(ClientsService).get(client);
    await statuses(service.callerWith(key), 4);
    await written();
    expect((await overviewOf(client)).day).toMatchObject({ used: 3, remaining: 0 });
    await service.app.get(QuotasService).reset(id);
    expect(await overviewOf(client)).toMatchObject({
      minute: { used: 0, remaining: 100, resetAt: null },
      day: { used: 0, remaining: 3 },
    });
  });
});

it('the top clients are ranked by the requests of the last days', async () => {
  await service.database.pool.query('DELETE FROM usage_days');
  const names: string[] = [];
  for (const [today, before, perDay] of [
    [30, 0, 40],
    [50, 0, 1_000],
    [0, 900, 1_000],
    [0, 0, 7],
  ]) {
    const { client } = await service.issueKey({ perMinute: 9, perDay });
    names.push(client);
    await service.database.pool.query(
      `INSERT INTO usage_days SELECT id, day::date, requests::int FROM clients,
           unnest(ARRAY['2026-11-21', '2026-11-20', '2026-11-18'], ARRAY[$2, $3, 5000]::text[]) AS used (day, requests)
         WHERE name = $1`,
      [client, String(today), String(before)],
    );
  }
  const [full, most, earlier] = names as [string, string, string];
  const ranking = service.app.get(QuotasService);
  const plan = 'enterprise';
  expect(await ranking.busiestClients(10, 1)).toEqual([
    { client: most, plan, requests: 50 },
    { client: full, plan, requests: 30 },
  ]);
  expect(await ranking.busiestClients(2, 3)).toEqual([
    { client: earlier, plan, requests: 900 },
    { client: most, plan, requests: 50 },
  ]);
});

it('two instances save counts, bans, last uses and deprecated calls of the same clients, met in opposite orders, without a deadlock', async () => {
  const { pool } = service.database;
  const keys = [await service.issueKey(), await service.issueKey(), await service.issueKey()];
  const ids = keys.map(({ keyId }) => keyId);
  const days = await pool.query(
    `INSERT INTO usage_days SELECT client_id, '2026-11-21', 1 FROM api_keys WHERE id = ANY($1)`,
    [ids],
  );
  const calls = `INSERT INTO deprecated_calls SELECT id, 'getPet', '2026-11-21', 1, now() FROM unnest($1::int[]) AS id`;
  expect([days.rowCount, (await pool.query(calls, [ids])).rowCount]).toEqual([3, 3]);
  const saving = [instances[1]!, instances[2]!];
  // An instance reads the usage of a client at the first request, which must come before the row is locked.
  for (const { key } of keys) {
    for (const one of saving) await one.callerWith(key).get('/rate-limit');
  }
  // Only locks that wait for a locked row show that both instances are in the middle of their batches.
  const lock = `SELECT FROM api_keys JOIN usage_days USING (client_id) JOIN deprecated_calls ON key_id = api_keys.id
    WHERE api_keys.id = ${ids[1]!} FOR NO KEY UPDATE`;
  const { saved } = await whileHeld(pool, lock, async () => {
    const saved = saving.map(async (one, index) => {
      const inOrder = index === 0 ? keys : keys.toReversed();
      const records = one.app.get(QuotaRecords);
      for (const { key } of inOrder) await one.callerWith(key).get('/pets/4711');
      // The first ban is written immediately. The others wait for it, and are then written together.
      for (const { keyId } of [inOrder[0]!, ...inOrder]) {
        records.saveBan(keyId, newBanState(), one.clock.now());
      }
      await Promise.all([
        records.onApplicationShutdown(),
        one.app.get(Authenticator).beforeApplicationShutdown(),
        one.app.get(DeprecatedCalls).onApplicationShutdown(),
      ]);
    });
    // Each instance waits with its counts, deprecated calls, bans and last uses.
    await until(async () => (await lockWaits(pool)) === 4 * saving.length);
    return { saved };
  });
  await Promise.all(saved);
  expect(saving.flatMap(({ log }) => log.lines.filter(({ level }) => Number(level) >= 40))).toEqual([]);
});

describe('A service that fails or starts again', () => {
  let service: TestService;
  afterAll(() => service.close());
  const database = useDatabase();
  beforeAll(async () => {
    service = await startService({ database });
  });

  /** Stops the service and starts another one over the same database at the same time of day. */
  async function restart(): Promise<void> {
    const now = service.clock.now();
    await service.close();
    service = await startService({ database });
    service.clock.set(now);
  }

  // The caller checks that each of these answers is an Error object with all header fields.
  describe('a failure within the limits is answered like any other', () => {
    it('when usage cannot be read, and is refunded', async () => {
      const caller = await service.caller({ plan: 'free' });
      const failed = await whileTableFails(service, 'usage_days', () => caller.get<ErrorBody>(COUNTED));
      expect([failed.status, failed.body.code]).toEqual([500, 'internal_error']);
      expect(limitsIn(await caller.get(COUNTED))).toMatchObject({ limit: 60, remaining: 59 });
    });

    it.each([
      ['an enterprise plan without limits', `plan = 'enterprise', per_minute = NULL, per_day = NULL`],
      // `per_minute` must have no effect after the client has got a plan with fixed limits again.
      ['a plan that only a newer version knows', `plan = 'gold', per_minute = 9999`],
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
    expect((await getRateLimit(free!)).ban).toMatchObject({ banned: false, nextBanSeconds: 600 });
    service.clock.advance(DAY_MS);
    expect(limitsIn(await dayLater!.get(COUNTED)).remaining).toBe(9);
  });

  it.each([
    ['even if the request was saved before', 0],
    ['even if its day is over', 200],
  ])('a restart keeps what was refunded of the minute, %s', async (_what, pause) => {
    const { key } = await service.issueKey({ perMinute: 2, perDay: 1_000 });
    service.clock.set(Math.ceil(service.clock.now() / DAY_MS) * DAY_MS - 100);
    const caller = service.callerWith(key);
    const other = await service.caller();
    const { id } = await new Arrange(other).pet();
    const { waiting } = await whileHeld(database.pool, 'LOCK TABLE pets', async () => {
      const waiting = caller.with({ 'If-None-Match': '*' }).get(`/pets/${id}`);
      await until(async () => (await getRateLimit(caller)).minute.remaining === 1);
      service.clock.advance(pause);
      expect(await statuses(caller, 1)).toEqual([200]);
      await other.get('/usage');
      return { waiting };
    });
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
});
