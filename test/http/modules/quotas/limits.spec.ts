import type { Usage } from '#libs/client';
import { DAY_MS } from '#libs/clock';
import { ClientsService } from '../../../../src/modules/auth';
import type { ApiCaller, ErrorBody } from '../../../support/api-caller';
import { useService } from '../../../support/use-service';
import { COUNTED, MINUTE, call, earnBan, limitsIn, standing, statuses } from '../../../support/limits';

// Windows, bans and decisions are tested as rules in test/unit/modules/quotas; here is what callers see of them.

const START = Date.UTC(2026, 10, 21, 9, 30, 0, 250);
const MIDNIGHT = Date.UTC(2026, 10, 22);

const service = useService();
beforeEach(() => service.clock.set(START));

/** A client of one request a minute that has used it. */
async function anExhaustedCaller(): Promise<ApiCaller> {
  const caller = await service.caller({ perMinute: 1, perDay: 1_000 });
  await caller.get(COUNTED);
  return caller;
}

describe('the minute', () => {
  it('starts at the first request, allows 60, refuses the 61st with Retry-After, and is full again after it', async () => {
    const caller = await service.caller({ plan: 'free' });
    const answers = await call(caller, 60);
    expect(answers.map((answer) => [answer.status, limitsIn(answer).remaining])).toEqual(
      Array.from({ length: 60 }, (_, index) => [200, 59 - index]),
    );
    const reset = Math.ceil((START + MINUTE) / 1_000);
    expect(limitsIn(answers[0]!)).toEqual({
      limit: 60,
      remaining: 59,
      reset,
      policy: '"minute";q=60;w=60, "day";q=1000;w=86400',
      state: '"minute";r=59;t=60, "day";r=999;t=52200',
      retryAfter: null,
    });
    service.clock.advance(17_001);
    const refused = await caller.get<ErrorBody>(COUNTED);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(limitsIn(refused)).toMatchObject({
      limit: 60,
      remaining: 0,
      reset,
      retryAfter: 43,
      state: '"minute";r=0;t=43, "day";r=940;t=52183',
    });
    service.clock.set(START + MINUTE - 1);
    expect(await statuses(caller, 1)).toEqual([429]);
    service.clock.advance(1);
    expect(await statuses(caller, 61)).toEqual([...Array<number>(60).fill(200), 429]);
  });

  it('of a new client is one for parallel requests, and none of them bans: they had no chance to know', async () => {
    const caller = await service.caller({ plan: 'free' });
    const answers = await Promise.all(Array.from({ length: 90 }, () => caller.get(COUNTED)));
    const passed = answers.filter(({ status }) => status === 200);
    expect(passed.map((answer) => limitsIn(answer).remaining).sort((one, other) => one - other)).toEqual(
      Array.from({ length: 60 }, (_, index) => index),
    );
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  it('is shared by all keys of a client', async () => {
    const { key, client } = await service.issueKey({ plan: 'free' });
    const { key: second } = await service.app.get(ClientsService).issueKey({ client });
    const one = service.callerWith(key);
    const other = service.anonymous().with({ Authorization: `Bearer ${second}` });
    await call(one, 30);
    expect(limitsIn(await other.get(COUNTED)).remaining).toBe(29);
    await call(other, 29);
    expect([await statuses(one, 1), await statuses(other, 1)]).toEqual([[429], [429]]);
  });
});

describe('the day', () => {
  it('refuses with a code of its own until midnight UTC, to the millisecond', async () => {
    const caller = await service.caller({ perMinute: 4, perDay: 3 });
    service.clock.set(MIDNIGHT - 10_000);
    expect((await call(caller, 3)).map((answer) => limitsIn(answer).remaining)).toEqual([2, 1, 0]);
    service.clock.set(MIDNIGHT - 9_999);
    const refused = await caller.get<ErrorBody>(COUNTED);
    expect([refused.status, refused.body.code]).toEqual([429, 'daily_quota_exceeded']);
    expect(limitsIn(refused)).toMatchObject({
      limit: 3,
      remaining: 0,
      reset: MIDNIGHT / 1_000,
      retryAfter: 10,
      state: '"minute";r=1;t=60, "day";r=0;t=10',
    });
    service.clock.set(MIDNIGHT);
    const [allowed, exhausted] = await call<ErrorBody>(caller, 2);
    expect(limitsIn(allowed!).state).toBe('"minute";r=0;t=50, "day";r=2;t=86400');
    expect([exhausted!.status, exhausted!.body.code]).toEqual([429, 'rate_limit_exceeded']);
  });
});

describe('a 429 to a key', () => {
  it('says how many refused requests remain before a ban, and how long it would last', async () => {
    const caller = await anExhaustedCaller();
    const answers = await call<ErrorBody>(caller, 2);
    service.clock.advance(2_000);
    answers.push(...(await call<ErrorBody>(caller, 10)));
    const counted = answers.map(
      ({ body }) => /(\d+) more refused requests?, 2 to 60 seconds after/.exec(body.message)?.[1],
    );
    expect(counted).toEqual(['11', '11', '10', '9', '8', '7', '6', '5', '4', '3', '2', '1']);
    expect(answers.every(({ body }) => body.message.includes('for 120 seconds'))).toBe(true);
  });
});

describe('a ban', () => {
  it('is 403 with its end in all header fields, which further requests do not extend', async () => {
    const caller = await anExhaustedCaller();
    const first = await earnBan(caller, service);
    expect([first.body.code, limitsIn(first).retryAfter]).toEqual(['api_key_banned', 120]);
    const reset = Math.ceil((service.clock.now() + 2 * MINUTE) / 1_000);
    service.clock.advance(2 * MINUTE - 1_000);
    for (const banned of await call<ErrorBody>(caller, 15, '/no/such/path')) {
      expect([banned.status, limitsIn(banned)]).toMatchObject([403, { remaining: 0, reset, retryAfter: 1 }]);
      expect(banned.body.message).toMatch(/banned because it kept sending requests.* in 1 second/);
    }
    service.clock.advance(1_000);
    expect(limitsIn((await call(caller, 1))[0]!).state).toMatch(/"day";r=998;/);
  });

  it('is of the key that sent the requests: another key of the client is refused, but not banned', async () => {
    const { key, client } = await service.issueKey({ perMinute: 1, perDay: 1_000 });
    const { key: second } = await service.app.get(ClientsService).issueKey({ client });
    const [one, other] = [key, second].map((text) => service.callerWith(text));
    await statuses(one!, 1);
    await earnBan(one!, service);
    const refused = await other!.get<ErrorBody>(COUNTED);
    expect([refused.status, refused.body.message]).toEqual([429, expect.stringMatching(/ 11 more refused/)]);
    service.clock.advance(MINUTE);
    expect([await statuses(one!, 1), await statuses(other!, 1)]).toEqual([[403], [200]]);
  });
});

describe('GET /rate-limit', () => {
  it('reports the plan, both windows and bans, in header fields that agree', async () => {
    service.clock.set(Date.UTC(2026, 10, 21, 9, 30));
    const caller = await service.caller({ plan: 'free' });
    await call(caller, 2);
    service.clock.advance(10_000);
    const answer = await caller.get('/rate-limit');
    expect(answer.body).toEqual({
      plan: 'free',
      minute: { limit: 60, remaining: 58, resetAt: '2026-11-21T09:31:00.000Z' },
      day: { limit: 1_000, remaining: 998, resetAt: '2026-11-22T00:00:00.000Z' },
      ban: { banned: false, refusalsBeforeBan: 31, nextBanSeconds: 120 },
    });
    expect(limitsIn(answer).state).toBe('"minute";r=58;t=50, "day";r=998;t=52190');
  });

  it('works for a banned key, reports the end of the ban, and changes nothing', async () => {
    const caller = await anExhaustedCaller();
    await earnBan(caller, service);
    const end = service.clock.now() + 2 * MINUTE;
    expect(new Set(await statuses(caller, 20, '/rate-limit'))).toEqual(new Set([200]));
    const ban = { refusalsBeforeBan: 11, nextBanSeconds: 600 };
    const until = new Date(end).toISOString();
    expect((await standing(caller)).ban).toEqual({ banned: true, until, ...ban });
    service.clock.set(end);
    expect((await standing(caller)).ban).toEqual({ banned: false, ...ban });
    expect(await statuses(caller, 1)).toEqual([200]);
  });

  it.each(['GET', 'HEAD'])('takes any valid key, and never counts, even if it fails (%s)', async (method) => {
    const caller = await service.caller({ plan: 'free', scopes: ['write'] });
    expect((await caller.send(method, '/rate-limit')).status).toBe(200);
    expect((await caller.send(method, '/rate-limit?nothing=1')).status).toBe(400);
    expect(await standing(caller)).toMatchObject({ minute: { remaining: 60 }, day: { remaining: 1_000 } });
    expect((await service.anonymous().send(method, '/rate-limit')).status).toBe(401);
  });
});

describe('GET /usage', () => {
  it('includes the latest requests and itself, and excludes uncounted ones and those of others', async () => {
    await call(await service.caller(), 5);
    const caller = await service.caller({ perMinute: 5, perDay: 100 });
    await call(caller, 4);
    await caller.get('/rate-limit');
    const { body } = await caller.get<Usage>('/usage?days=1');
    expect(body).toEqual({ days: [{ date: '2026-11-21', requests: 5 }] });
    await call(caller, 3);
    service.clock.advance(MINUTE);
    expect((await caller.get<Usage>('/usage?days=1')).body.days[0]!.requests).toBe(6);
  });

  it('lists each UTC day, oldest first, 30 by default', async () => {
    const caller = await service.caller();
    service.clock.set(Date.UTC(2026, 10, 20, 23, 59, 59, 999));
    await call(caller, 2);
    service.clock.advance(1);
    const { days } = (await caller.get<Usage>('/usage')).body;
    expect([days.length, days[0]!.date, days[28], days[29]]).toEqual([
      30,
      '2026-10-23',
      { date: '2026-11-20', requests: 2 },
      { date: '2026-11-21', requests: 1 },
    ]);
    expect((await caller.get<Usage>('/usage?days=90')).body.days).toHaveLength(90);
  });
});

it('Usage and deprecated calls are kept for the 90 days that can be queried, including today', async () => {
  const { key, keyId, client } = await service.issueKey();
  const { pool } = service.database;
  const oldest = '2026-08-24';
  // The day decides, which is the service's. The time of the last call, from the database's clock, does not.
  for (const day of ['2026-08-23', oldest]) {
    await pool.query(`INSERT INTO usage_days SELECT id, $2, 7 FROM clients WHERE name = $1`, [client, day]);
    await pool.query(`INSERT INTO deprecated_calls VALUES ($1, 'getPet', $2, 7, now())`, [keyId, day]);
  }
  const expire = () =>
    Promise.all(['deprecated_calls', 'usage_days'].map((one) => service.deleteExpired(one)));
  expect(await expire()).toEqual([1, 1]);
  const { body } = await service.callerWith(key).get<Usage>('/usage?days=90');
  expect(body.days[0]).toEqual({ date: oldest, requests: 7 });
  service.clock.advance(DAY_MS);
  expect(await expire()).toEqual([1, 1]);
});
