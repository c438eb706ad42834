import type { Usage } from '#libs/client';
import { DAY_MS } from '#libs/clock';
import { ClientsService } from '../../../../src/modules/auth';
import type { ApiCaller, ErrorBody, Answer } from '../../../support/api-caller';
import { useService } from '../../../support/use-service';
import { COUNTED, MINUTE, call, earnBan, limitsIn, getRateLimit, statuses } from '../../../support/limits';
import { whileTableFails } from '../../../support/disturbances';
import { newApiKey } from '../../../../src/modules/auth/api-key';

// test/unit/modules/quotas tests the rules of windows, bans and decisions. These tests show what callers see of the rules.

const START = Date.UTC(2026, 10, 21, 9, 30, 0, 250);
const MIDNIGHT = Date.UTC(2026, 10, 22);

const service = useService();
beforeEach(() => service.clock.set(START));

/** A caller that has used up its limit of one request per minute. */
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
});

it('the day refuses with a code of its own until midnight UTC, to the millisecond', async () => {
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

it('a 429 to a key says how many refused requests remain before a ban, and how long it would last', async () => {
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
    expect((await caller.send('HEAD', '/rate-limit')).status).toBe(200);
    const ban = { refusalsBeforeBan: 11, nextBanSeconds: 600 };
    const until = new Date(end).toISOString();
    expect((await getRateLimit(caller)).ban).toEqual({ banned: true, until, ...ban });
    service.clock.set(end);
    expect((await getRateLimit(caller)).ban).toEqual({ banned: false, ...ban });
    expect(await statuses(caller, 1)).toEqual([200]);
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
  // The day of a row, from the service's clock, decides. The time of its last call, from the database's clock, does not.
  for (const day of ['2026-08-23', oldest]) {
    await pool.query(`INSERT INTO usage_days SELECT id, $2, 7 FROM clients WHERE name = $1`, [client, day]);
    await pool.query(`INSERT INTO deprecated_calls VALUES ($1, 'getPet', $2, 7, now())`, [keyId, day]);
  }
  expect(await service.deleteExpired()).toBe(2);
  const { body } = await service.callerWith(key).get<Usage>('/usage?days=90');
  expect(body.days[0]).toEqual({ date: oldest, requests: 7 });
  service.clock.advance(DAY_MS);
  expect(await service.deleteExpired()).toBe(2);
});

describe('What counts:', () => {
  const service = useService();
  const proxied = useService({ settings: { trustProxy: ['127.0.0.1', '10.0.0.0/8'] } });
  beforeEach(() => [service, proxied].forEach(({ clock }) => clock.advance(2 * MINUTE)));

  /** Sends a request. @returns its answer, and how many requests it has cost the caller, in the minute and in the day */
  async function costOf(caller: ApiCaller, request: () => Promise<Answer<never>>) {
    const before = await getRateLimit(caller);
    const answer = await request();
    const { minute, day } = await getRateLimit(caller);
    const cost = [before.minute.remaining - minute.remaining, before.day.remaining - day.remaining];
    return { answer, cost };
  }

  describe('a request with a valid key is counted', () => {
    it.each([
      ['200', 200, 'GET', '/pets', undefined],
      ['201', 201, 'POST', '/categories', { name: 'Cats' }],
      ['400', 400, 'GET', '/pets/x', undefined],
      ['404', 404, 'GET', '/no/such/path', undefined],
      ['405 of a path that is itself free with a key', 405, 'POST', '/rate-limit', {}],
      ['422', 422, 'POST', '/pets', { name: 'Rex', categoryId: 4711 }],
    ])('when it is answered %s', async (_what, status, method, path, body) => {
      const caller = await service.caller({ plan: 'free' });
      const { answer, cost } = await costOf(caller, () => caller.send(method, path, body));
      expect([answer.status, ...cost]).toEqual([status, 1, 1]);
      expect(limitsIn(answer)).toMatchObject({ limit: 60, remaining: 59 });
    });

    it('when it is answered 403 for a missing scope', async () => {
      const caller = await service.caller({ plan: 'free', scopes: ['read'] });
      const { cost } = await costOf(caller, () => caller.post('/categories', { name: 'Cats' }));
      expect(cost).toEqual([1, 1]);
    });
  });

  describe('a request is refunded, and the headers of the response show it', () => {
    it('when it is answered 304', async () => {
      const caller = await service.caller({ plan: 'free' });
      await caller.get(COUNTED);
      const held = caller.with({ 'If-None-Match': '*' });
      const { answer, cost } = await costOf(caller, () => held.get(COUNTED));
      expect([answer.status, ...cost]).toEqual([304, 0, 0]);
      expect(limitsIn(answer)).toMatchObject({ remaining: 59 });
      expect(limitsIn(answer).state).toMatch(/^"minute";r=59;t=60, "day";r=999;/);
    });

    it('when it is answered 5xx', async () => {
      const caller = await service.caller({ plan: 'free' });
      await caller.get(COUNTED);
      const failed = await whileTableFails(service, 'categories', () => caller.get<ErrorBody>(COUNTED));
      expect([failed.status, failed.body.code]).toEqual([500, 'internal_error']);
      expect(limitsIn(failed)).toMatchObject({ limit: 60, remaining: 59 });
      expect((await getRateLimit(caller)).day.remaining).toBe(999);
    });
  });

  it.each(['/health/live', '/health/ready', '/openapi.json', '/openapi.yaml', '/docs'])(
    'never counted, with or without a key: %s',
    async (path) => {
      const caller = await service.caller({ plan: 'free' });
      expect((await costOf(caller, () => caller.get(path))).cost).toEqual([0, 0]);
      await service.anonymous().get(path);
      expect((await fetch(service.url + path, { method: 'POST' })).status).toBe(405);
      const stranger = await service.anonymous().get('/pets');
      expect([stranger.status, limitsIn(stranger).remaining]).toEqual([401, 59]);
    },
  );

  const STRANGERS: [string, Record<string, string>, string, string, number][] = [
    ['a mistyped key', { 'X-API-Key': 'psk_live_x' }, 'GET', COUNTED, 401],
    ['two keys', { 'X-API-Key': newApiKey(), Authorization: `Bearer ${newApiKey()}` }, 'GET', COUNTED, 400],
    ['an unknown key for GET /rate-limit', { 'X-API-Key': newApiKey() }, 'GET', '/rate-limit', 401],
    [
      'forwarding headers of nobody who is trusted',
      { 'X-Forwarded-For': '1.2.3.4', Forwarded: 'for=1.2.3.4', 'X-Real-IP': '1.2.3.4' },
      'GET',
      COUNTED,
      401,
    ],
  ];

  describe('an address without a valid key', () => {
    it('has 60 requests a minute with the same headers, is then refused with Retry-After, served again after that, and never banned', async () => {
      const caller = service.anonymous();
      const answers = await call(caller, 60);
      expect(answers.map((answer) => [answer.status, limitsIn(answer).remaining])).toEqual(
        Array.from({ length: 60 }, (_, index) => [401, 59 - index]),
      );
      const limits = { policy: '"minute";q=60;w=60', state: '"minute";r=59;t=60' };
      expect(limitsIn(answers[0]!)).toMatchObject({ limit: 60, ...limits });
      service.clock.advance(19_500);
      const refused = await call<ErrorBody>(caller, 40);
      expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['rate_limit_exceeded']));
      expect(limitsIn(refused[0]!)).toMatchObject({ limit: 60, remaining: 0, retryAfter: 41 });
      expect(refused[0]!.body.message).not.toMatch(/ban/);
      service.clock.advance(40_500);
      expect(await statuses(caller, 1)).toEqual([401]);
    });

    it.each(STRANGERS)('is counted with %s', async (_what, headers, method, path, status) => {
      const first = await service.anonymous().with(headers).send(method, path);
      expect([first.status, limitsIn(first).remaining]).toEqual([status, 59]);
      expect(limitsIn(await service.anonymous().get(COUNTED)).remaining).toBe(58);
    });

    it('shares nothing with the valid keys behind it', async () => {
      const caller = await service.caller({ perMinute: 1, perDay: 100 });
      await call(service.anonymous(), 60);
      expect(await statuses(caller, 2)).toEqual([200, 429]);
      service.clock.advance(2 * MINUTE);
      expect(await statuses(caller, 2)).toEqual([200, 429]);
      expect(limitsIn(await service.anonymous().get(COUNTED)).remaining).toBe(59);
    });
  });

  async function remaining(chain: string): Promise<number> {
    const from = proxied.anonymous().with({ 'X-Forwarded-For': chain });
    return limitsIn(await from.get(COUNTED)).remaining;
  }

  describe('behind a trusted proxy', () => {
    it.each([
      ['a forged chain counts as what the proxy saw', '1.1.1.1, 192.0.2.3', '9.9.9.9, 192.0.2.3'],
      ['trusted proxies count as the address before them', '192.0.2.4', '6.6.6.6, 192.0.2.4, 10.1.2.3'],
      [
        'ports are no part of an address',
        '192.0.2.6:50001, 10.1.2.3:8443',
        '192.0.2.6, [::ffff:10.1.2.3]:443',
      ],
      ['a forged trusted address does not hide the one behind it', '192.0.2.5', '10.9.9.9, 192.0.2.5'],
      ['invalid addresses count as one', 'garbage', 'x'.repeat(3_000)],
      ['invalid addresses in a chain count as one', '1.1.1.1, unknown', '2.2.2.2, _hidden'],
      ['an empty chain counts as the proxy', ', ,', ' '],
    ])('%s', async (_rule, one, other) => {
      expect([await remaining(one), await remaining(other)]).toEqual([59, 58]);
    });

    it('a valid key counts for its client wherever it calls from', async () => {
      const caller = await proxied.caller({ plan: 'free' });
      const chains = ['192.0.2.8', '192.0.2.9', 'garbage'];
      for (const [index, chain] of chains.entries()) {
        const answer = await caller.with({ 'X-Forwarded-For': chain }).get(COUNTED);
        expect(limitsIn(answer).remaining).toBe(59 - index);
      }
    });
  });
});
