import fc from 'fast-check';
import { type BanState, newBanState } from '../../../../src/modules/quotas/rules/bans';
import { applyStep, type QuotaStatus, rateLimitHeaders } from '../../../../src/modules/quotas/rules/decision';
import {
  DAY_MS,
  type Limits,
  MINUTE_MS,
  type WindowName,
  type WindowStatus,
  type Windows,
  newWindows,
  take,
  rollWindows,
} from '../../../../src/modules/quotas/rules/limits';

const NOW = Date.UTC(2026, 10, 21, 9);

function decide(windows: Windows, ban: BanState | null, limits: Limits, now: number): QuotaStatus {
  return applyStep({ windows, ban, limits, perMinute: limits.perMinute, now }, 'take', 0);
}

it('a banned request will be accepted when the day is over, if it is exhausted; the windows are as they are', () => {
  const windows = newWindows();
  const ban = newBanState();
  const limits = { perMinute: 2, perDay: 2 };
  const acceptedAt = Date.UTC(2026, 10, 22);
  for (let sent = 0; sent < 3; sent += 1) decide(windows, ban, limits, NOW);
  for (let sent = 0; sent < 11; sent += 1) decide(windows, ban, limits, NOW + 2_000);
  for (const now of [NOW + 2_000, NOW + 70_000]) {
    const decision = decide(windows, ban, limits, now);
    expect(decision).toMatchObject({
      outcome: 'banned',
      acceptedAt,
      windows: [{ remaining: now < NOW + MINUTE_MS ? 0 : 2 }, { remaining: 0 }],
    });
    expect(rateLimitHeaders(decision, now)).toMatchObject({
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(acceptedAt / 1_000),
      RateLimit: expect.stringContaining('"day";r=0;') as string,
    });
  }
  expect(decide(windows, ban, limits, acceptedAt).outcome).toBe('allowed');
});

const MIDNIGHT = Date.UTC(2026, 10, 21);
const TOLD_AT = MIDNIGHT + DAY_MS - 40_210_500;

function minute(remaining: number): WindowStatus {
  return { name: 'minute', limit: 60, remaining, resetAt: TOLD_AT + 59_001 };
}

function day(remaining: number): WindowStatus {
  return { name: 'day', limit: 1_000, remaining, resetAt: MIDNIGHT + DAY_MS };
}

function headersOf(windows: WindowStatus[], now: number, exhausted: WindowName | null) {
  return rateLimitHeaders({ windows, acceptedAt: null, exhausted }, now);
}

describe('the rate limit headers', () => {
  it('report the day when it has less left, and on a tie', () => {
    const reset = String((MIDNIGHT + DAY_MS) / 1000);
    for (const remaining of [4, 5]) {
      expect(headersOf([minute(5), day(remaining)], TOLD_AT, null)).toMatchObject({
        'X-RateLimit-Limit': '1000',
        'X-RateLimit-Remaining': String(remaining),
        'X-RateLimit-Reset': reset,
      });
    }
  });

  it('report the exhausted window on a refusal, although both are at zero', () => {
    expect(headersOf([minute(0), day(0)], TOLD_AT, 'minute')['X-RateLimit-Limit']).toBe('60');
    expect(headersOf([minute(0), day(0)], TOLD_AT, 'day')['X-RateLimit-Limit']).toBe('1000');
  });
});

const START = Date.UTC(2026, 10, 21, 23, 50);
const anyLimits = fc.record({
  perMinute: fc.integer({ min: 1, max: 6 }),
  perDay: fc.integer({ min: 1, max: 20 }),
});

// The properties return true or false, because thousands of calls of `expect` would take most of the time.

describe('whatever the clock does', () => {
  const jumps = fc.array(
    fc.oneof(fc.integer({ min: 0, max: 90_000 }), fc.integer({ min: -3 * DAY_MS, max: 3 * DAY_MS })),
    { maxLength: 60, size: 'max' },
  );

  it('the announced end is at most a minute, or a day, away, and does not move', () => {
    fc.assert(
      fc.property(anyLimits, jumps, (limits, all) => {
        const windows = newWindows();
        let now = START;
        return all.every((jump) => {
          now += jump;
          const { exhausted, windows: current } = decide(windows, null, limits, now);
          return current.every(({ name, resetAt }) => {
            const longest = name === 'minute' ? MINUTE_MS : DAY_MS;
            const isKept =
              name !== exhausted || take(structuredClone(windows), limits, resetAt)?.name !== name;
            return resetAt > now && resetAt - now <= longest && isKept;
          });
        });
      }),
    );
  });

  it('a step back returns no requests', () => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 90_000 }), fc.nat({ max: 3 * DAY_MS })), { maxLength: 60 });
    const left = (all: { remaining: number }[]) => all.map(({ remaining }) => remaining).join();
    fc.assert(
      fc.property(anyLimits, steps, (limits, all) => {
        const windows = newWindows();
        let now = START;
        return all.every(([forward, back]) => {
          now += forward;
          const before = left(decide(windows, null, limits, now).windows);
          now -= back;
          return left(rollWindows(windows, limits, now)) === before;
        });
      }),
    );
  });
});
