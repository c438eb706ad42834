import type { ErrorBody } from '../../support/api-client';
import { useService } from '../../support/use-service';
import { COUNTED, MINUTE, call, limitsIn, statuses } from '../../support/limits';

const MIDNIGHT = Date.UTC(2026, 10, 22);

const service = useService();
beforeEach(() => service.clock.set(Date.UTC(2026, 10, 21, 9, 30)));

describe('the daily limit', () => {
  it('refuses with a code of its own until midnight UTC', async () => {
    const caller = await service.caller({ perMinute: 100, perDay: 3 });
    const answers = await call(caller, 3);
    expect(answers.map((answer) => limitsIn(answer))).toMatchObject(
      [2, 1, 0].map((remaining) => ({ limit: 3, remaining, reset: MIDNIGHT / 1000 })),
    );
    service.clock.advance(1);
    const refused = await caller.get<ErrorBody>(COUNTED);
    expect([refused.status, refused.body.code]).toEqual([429, 'daily_quota_exceeded']);
    expect(limitsIn(refused)).toMatchObject({
      limit: 3,
      remaining: 0,
      reset: MIDNIGHT / 1000,
      retryAfter: 52_200,
      policy: '"minute";q=100;w=60, "day";q=3;w=86400',
      state: '"minute";r=97;t=60, "day";r=0;t=52200',
    });
  });

  it('resets at midnight to the millisecond, while the minute continues', async () => {
    const caller = await service.caller({ perMinute: 4, perDay: 3 });
    service.clock.set(MIDNIGHT - 10_000);
    await call(caller, 3);
    service.clock.set(MIDNIGHT - 1);
    expect(await statuses(caller, 1)).toEqual([429]);
    service.clock.set(MIDNIGHT);
    const [allowed, refused] = await call<ErrorBody>(caller, 2);
    expect(limitsIn(allowed!).state).toBe('"minute";r=0;t=50, "day";r=2;t=86400');
    expect([refused!.status, refused!.body?.code]).toEqual([429, 'rate_limit_exceeded']);
  });

  it('is reported on a tie', async () => {
    const caller = await service.caller({ perMinute: 5, perDay: 5 });
    expect(limitsIn(await caller.get(COUNTED))).toMatchObject({ remaining: 4, reset: MIDNIGHT / 1000 });
    service.clock.advance(MINUTE);
    // The minute is new and has 4 left after this one, the day 3: the day is told as the scarcer one.
    expect(limitsIn(await caller.get(COUNTED))).toMatchObject({ remaining: 3, reset: MIDNIGHT / 1000 });
  });

  it('is reported on a 429 when both are exhausted, because its wait is longer', async () => {
    const caller = await service.caller({ perMinute: 2, perDay: 2 });
    const [, , refused] = await call<ErrorBody>(caller, 3);
    expect(refused!.body.code).toBe('daily_quota_exceeded');
    expect(limitsIn(refused!)).toMatchObject({ reset: MIDNIGHT / 1000, retryAfter: 52_200 });
  });

  it('is not reported when the minute ends after midnight', async () => {
    const caller = await service.caller({ perMinute: 2, perDay: 2 });
    service.clock.set(MIDNIGHT - 1_000);
    const [, , refused] = await call<ErrorBody>(caller, 3);
    expect(refused!.body.code).toBe('rate_limit_exceeded');
    expect(limitsIn(refused!)).toMatchObject({ retryAfter: 60, reset: (MIDNIGHT - 1_000 + MINUTE) / 1000 });
    service.clock.advance(60_000);
    expect(await statuses(caller, 1)).toEqual([200]);
  });

  it('is never exceeded over many minutes', async () => {
    const caller = await service.caller({ perMinute: 10, perDay: 25 });
    let allowed = 0;
    for (let minute = 0; minute < 5; minute += 1) {
      allowed += (await statuses(caller, 10)).filter((status) => status === 200).length;
      service.clock.advance(MINUTE);
    }
    expect(allowed).toBe(25);
  });
});
