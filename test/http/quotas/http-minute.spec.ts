import type { ErrorBody } from '../../support/api-client';
import { useService } from '../../support/use-service';
import { COUNTED, MINUTE, call, limitsIn, statuses } from '../../support/limits';

const service = useService();

describe('the minute of a free client', () => {
  it('starts at its first request, and every response reports both windows', async () => {
    const caller = await service.caller({ plan: 'free' });
    service.clock.set(Date.UTC(2026, 10, 21, 12, 0, 0, 250));
    const first = await caller.get(COUNTED);
    expect(limitsIn(first)).toEqual({
      limit: 60,
      remaining: 59,
      reset: Date.UTC(2026, 10, 21, 12, 1, 1) / 1000,
      policy: '"minute";q=60;w=60, "day";q=1000;w=86400',
      state: '"minute";r=59;t=60, "day";r=999;t=43200',
      retryAfter: null,
    });
    service.clock.advance(19_750);
    expect(limitsIn(await caller.get(COUNTED))).toMatchObject({
      remaining: 58,
      reset: Date.UTC(2026, 10, 21, 12, 1, 1) / 1000,
      state: '"minute";r=58;t=41, "day";r=998;t=43180',
    });
  });

  it('allows 60 requests and refuses the 61st with Retry-After', async () => {
    const caller = await service.caller({ plan: 'free' });
    const answers = await call(caller, 60);
    expect(answers.map((answer) => [answer.status, limitsIn(answer).remaining])).toEqual(
      Array.from({ length: 60 }, (_, index) => [200, 59 - index]),
    );
    service.clock.advance(17_001);
    const refused = await caller.get<ErrorBody>(COUNTED);
    expect(refused.status).toBe(429);
    expect(refused.body.code).toBe('rate_limit_exceeded');
    expect(limitsIn(refused)).toMatchObject({
      limit: 60,
      remaining: 0,
      reset: Math.ceil((service.clock.now() + 42_999) / 1000),
      retryAfter: 43,
      state: expect.stringMatching(/^"minute";r=0;t=43, "day";r=940;/) as string,
    });
  });

  it('refuses until its last millisecond and allows the next', async () => {
    const caller = await service.caller({ plan: 'free' });
    await call(caller, 60);
    service.clock.advance(MINUTE - 1);
    const refused = await caller.get(COUNTED);
    expect([refused.status, limitsIn(refused).retryAfter]).toEqual([429, 1]);
    service.clock.advance(1);
    const answer = await caller.get(COUNTED);
    expect([answer.status, limitsIn(answer).remaining]).toEqual([200, 59]);
  });

  it.each([
    ['Reset', (refused: { reset: number }) => refused.reset * 1000],
    [
      'Retry-After',
      (refused: { retryAfter: number | null }) => service.clock.now() + refused.retryAfter! * 1000,
    ],
  ])('allows a request exactly at %s, with a full new minute', async (_field, timeIn) => {
    const caller = await service.caller({ plan: 'free' });
    service.clock.advance(137);
    await call(caller, 60);
    service.clock.advance(23_456);
    service.clock.set(timeIn(limitsIn(await caller.get(COUNTED))));
    expect(await statuses(caller, 61)).toEqual([...Array<number>(60).fill(200), 429]);
  });
});

describe('a refusal', () => {
  it('uses no quota of either window', async () => {
    const caller = await service.caller({ plan: 'enterprise', perMinute: 2, perDay: 5 });
    expect(await statuses(caller, 6)).toEqual([200, 200, 429, 429, 429, 429]);
    service.clock.advance(MINUTE);
    expect(limitsIn(await caller.get(COUNTED)).state).toMatch(/^"minute";r=1;t=60, "day";r=2;/);
  });
});

describe.each([
  ['pro', 300, 10_000],
  ['business', 1_000, 100_000],
])('the plan %s', (plan, perMinute, perDay) => {
  it(`allows ${perMinute} requests a minute`, async () => {
    const caller = await service.caller({ plan });
    expect(limitsIn(await caller.get(COUNTED))).toMatchObject({
      limit: perMinute,
      remaining: perMinute - 1,
      policy: `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
    });
  });
});

describe('parallel requests', () => {
  it('of a new client share one quota: of 200, exactly 60 pass', async () => {
    const caller = await service.caller({ plan: 'free' });
    const answers = await Promise.all(Array.from({ length: 200 }, () => caller.get(COUNTED)));
    const passed = answers.filter(({ status }) => status === 200);
    expect(passed.map((answer) => limitsIn(answer).remaining).sort((one, other) => one - other)).toEqual(
      Array.from({ length: 60 }, (_, index) => index),
    );
    // None of the others had seen a 429 when it was sent, so none of them is banned.
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(140);
  });
});
