import fc from 'fast-check';
import { BAN_DURATIONS_MS, newBanState } from '../../../src/modules/quotas/rules/ban-rules';
import { decide, type Decision } from '../../../src/modules/quotas/rules/decision';
import { rateLimitHeaders } from '../../../src/modules/quotas/rules/rate-limit-headers';
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
      fc.property(exhausting, ({ perMinute, perDay, start, gaps }) => {
        const limits: Limits = { perMinute, perDay };
        const windows = newWindowState(start);
        let now = start;
        for (const gap of gaps) {
          now += gap;
          const decision = decide(windows, null, limits, now);
          if (decision.exhausted === null) continue;
          expect(decision.retryAfterSeconds).toBeGreaterThanOrEqual(1);
          const headers = rateLimitHeaders(decision.standings, now, decision.exhausted);
          const back = comeBackAt(headers, now, decision);
          expect(back).toBeGreaterThan(now);
          expect(take({ ...windows }, limits, back)).not.toBe(decision.exhausted);
        }
      }),
    );
  });

  it('has exactly ten refusals before each ban, and bans of 2, 10, 60, 1440, 4320 minutes', () => {
    const windows = newWindowState(START);
    const bans = newBanState();
    const limits: Limits = { perMinute: 0, perDay: null };
    let now = START;
    const bansInTurn = [
      ...BAN_DURATIONS_MS.entries(),
      [BAN_DURATIONS_MS.length - 1, BAN_DURATIONS_MS.at(-1)!],
    ];
    for (const [index, duration] of bansInTurn as [number, number][]) {
      for (let left = 10; left >= 1; left -= 1) {
        expect(decide(windows, bans, limits, now)).toMatchObject({
          outcome: 'limited',
          refusalsBeforeBan: left,
          nextBanSeconds: duration / 1000,
        });
      }
      expect(decide(windows, bans, limits, now)).toMatchObject({
        outcome: 'banned',
        earnedBanLevel: index + 1,
        retryAfterSeconds: duration / 1000,
      });
      expect(decide(windows, bans, limits, now + duration - 1).outcome).toBe('banned');
      now += duration;
    }
  });

  it('that waits for Retry-After is never banned', () => {
    fc.assert(
      fc.property(
        anyLimits,
        fc.array(fc.nat({ max: 30_000 }), { maxLength: 200, size: 'max' }),
        (limits, gaps) => {
          const windows = newWindowState(START);
          const bans = newBanState();
          let now = START;
          for (const gap of gaps) {
            const decision = decide(windows, bans, limits, now);
            expect(decision.outcome).not.toBe('banned');
            now += decision.retryAfterSeconds * 1000 || gap;
          }
        },
      ),
    );
  });
});

describe('whatever the clock does', () => {
  const jumps = fc.array(
    fc.oneof(fc.integer({ min: 0, max: 90_000 }), fc.integer({ min: -3 * DAY_MS, max: 3 * DAY_MS })),
    { maxLength: 80, size: 'max' },
  );

  it('the announced end is at most a minute, or a day and an hour, away, and does not move', () => {
    fc.assert(
      fc.property(anyLimits, jumps, (limits, all) => {
        const windows = newWindowState(START);
        let now = START;
        for (const jump of all) {
          now += jump;
          const { exhausted, standings: current } = decide(windows, null, limits, now);
          for (const { name, resetAt } of current) {
            expect(resetAt).toBeGreaterThan(now);
            expect(resetAt - now).toBeLessThanOrEqual(name === 'minute' ? MINUTE_MS : DAY_MS + CLOCK_STEP_MS);
            if (name === exhausted) expect(take({ ...windows }, limits, resetAt)).not.toBe(name);
          }
        }
      }),
    );
  });

  it('a step back returns no requests', () => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 90_000 }), fc.nat({ max: 3 * DAY_MS })), { maxLength: 60 });
    fc.assert(
      fc.property(anyLimits, steps, (limits, all) => {
        const windows = newWindowState(START);
        let now = START;
        for (const [forward, back] of all) {
          now += forward;
          const before = decide(windows, null, limits, now).standings.map((standing) => standing.remaining);
          now -= back;
          const after = standings(windows, limits, now).map((standing) => standing.remaining);
          expect(after).toEqual(before);
        }
      }),
    );
  });

  it('a clock that is an hour wrong across midnight never allows a third day', () => {
    const excursion = fc.record({
      aheadMs: fc.integer({ min: 0, max: CLOCK_STEP_MS }),
      requests: fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 2 * MINUTE_MS })), {
        maxLength: 200,
        size: 'max',
      }),
    });
    fc.assert(
      fc.property(excursion, ({ aheadMs, requests }) => {
        const limits: Limits = { perMinute: 100, perDay: 5 };
        const windows = newWindowState(START);
        const twoDaysEnd = START - (START % DAY_MS) + 2 * DAY_MS;
        let trueNow = START;
        let letIn = 0;
        for (const [ahead, gap] of requests) {
          trueNow = Math.min(trueNow + gap, twoDaysEnd - 1 - CLOCK_STEP_MS);
          if (take(windows, limits, trueNow + (ahead ? aheadMs : 0)) === null) letIn += 1;
        }
        expect(letIn).toBeLessThanOrEqual(10);
      }),
    );
  });
});
