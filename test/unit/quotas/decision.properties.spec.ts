import fc from 'fast-check';
import { newBanState } from '../../../src/modules/quotas/rules/ban-rules';
import { decide, type Decision } from '../../../src/modules/quotas/rules/decision';
import { rateLimitHeaders } from '../../../src/modules/quotas/rules/decision';
import {
  CLOCK_STEP_MS,
  DAY_MS,
  MINUTE_MS,
  newWindowState,
  standings,
  take,
  type Limits,
} from '../../../src/modules/quotas/rules/rate-window';

const START = Date.UTC(2026, 10, 21, 23, 50);
const anyLimits = fc.record({
  perMinute: fc.integer({ min: 1, max: 6 }),
  perDay: fc.integer({ min: 1, max: 20 }),
});

// Properties answer whether they hold: jest's `expect`, thousands of times, would take most of the time.

describe('a refused client', () => {
  const exhausting = fc.record({
    perMinute: fc.integer({ min: 1, max: 5 }),
    perDay: fc.integer({ min: 1, max: 8 }),
    start: fc.integer({ min: START, max: START + 20 * MINUTE_MS }),
    gaps: fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 30 }),
  });

  it.each([
    ['at Reset', (headers: Record<string, string>) => Number(headers['X-RateLimit-Reset']) * 1000],
    ['after Retry-After', (_: unknown, now: number, d: Decision) => now + d.retryAfterSeconds * 1000],
  ])('is not refused by that window %s', (_, comeBackAt) => {
    fc.assert(
      fc.property(exhausting, ({ start, gaps, ...limits }) => {
        const windows = newWindowState(start);
        let now = start;
        return gaps.every((gap) => {
          now += gap;
          const decision = decide(windows, null, limits, now);
          if (decision.exhausted === null) return true;
          const headers = rateLimitHeaders(decision.standings, now, decision.exhausted);
          const back = comeBackAt(headers, now, decision);
          const letsIn = take({ ...windows }, limits, back) !== decision.exhausted;
          return decision.retryAfterSeconds >= 1 && back > now && letsIn;
        });
      }),
    );
  });

  it('that waits for Retry-After is never banned', () => {
    const gaps = fc.array(fc.nat({ max: 30_000 }), { maxLength: 100, size: 'max' });
    fc.assert(
      fc.property(anyLimits, gaps, (limits, all) => {
        const windows = newWindowState(START);
        const bans = newBanState();
        let now = START;
        return all.every((gap) => {
          const decision = decide(windows, bans, limits, now);
          now += decision.retryAfterSeconds * 1000 || gap;
          return decision.outcome !== 'banned';
        });
      }),
    );
  });
});

describe('whatever the clock does', () => {
  const jumps = fc.array(
    fc.oneof(fc.integer({ min: 0, max: 90_000 }), fc.integer({ min: -3 * DAY_MS, max: 3 * DAY_MS })),
    { maxLength: 60, size: 'max' },
  );

  it('the announced end is at most a minute, or a day and an hour, away, and does not move', () => {
    fc.assert(
      fc.property(anyLimits, jumps, (limits, all) => {
        const windows = newWindowState(START);
        let now = START;
        return all.every((jump) => {
          now += jump;
          const { exhausted, standings: current } = decide(windows, null, limits, now);
          return current.every(({ name, resetAt }) => {
            const longest = name === 'minute' ? MINUTE_MS : DAY_MS + CLOCK_STEP_MS;
            const isKept = name !== exhausted || take({ ...windows }, limits, resetAt) !== name;
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
        const windows = newWindowState(START);
        let now = START;
        return all.every(([forward, back]) => {
          now += forward;
          const before = left(decide(windows, null, limits, now).standings);
          now -= back;
          return left(standings(windows, limits, now)) === before;
        });
      }),
    );
  });

  it('a clock that is an hour wrong across midnight never allows a third day', () => {
    const excursion = fc.record({
      aheadMs: fc.integer({ min: 0, max: CLOCK_STEP_MS }),
      requests: fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 2 * MINUTE_MS })), {
        maxLength: 100,
        size: 'max',
      }),
    });
    fc.assert(
      fc.property(excursion, ({ aheadMs, requests }) => {
        const limits: Limits = { perMinute: 100, perDay: 5 };
        const windows = newWindowState(START);
        const twoDaysEnd = START - (START % DAY_MS) + 2 * DAY_MS;
        let trueNow = START;
        const letIn = requests.filter(([ahead, gap]) => {
          trueNow = Math.min(trueNow + gap, twoDaysEnd - 1 - CLOCK_STEP_MS);
          return take(windows, limits, trueNow + (ahead ? aheadMs : 0)) === null;
        });
        return letIn.length <= 10;
      }),
    );
  });
});
