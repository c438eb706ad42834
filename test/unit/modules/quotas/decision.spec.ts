import fc from 'fast-check';
import { DAY_MS } from '#libs/clock';
import { type BanState, newBanState } from '../../../../src/modules/quotas/rules/bans';
import { applyStep, type Decision, rateLimitHeaders } from '../../../../src/modules/quotas/rules/decision';
import {
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

function decide(windows: Windows, ban: BanState | null, limits: Limits, now: number): Decision {
  return applyStep({ windows, ban, limits, now }, 'take');
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
      statuses: [{ remaining: now < NOW + MINUTE_MS ? 0 : 2 }, { remaining: 0 }],
    });
    expect(rateLimitHeaders(decision, now)).toMatchObject({
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(acceptedAt / 1_000),
      RateLimit: expect.stringContaining('"day";r=0;') as string,
    });
  }
  expect(decide(windows, ban, limits, acceptedAt).outcome).toBe('allowed');
});

it.each<
  [what: string, left: [minute: number, day: number], exhausted: WindowName | null, reported: WindowName]
>([
  ['the day when it has less left', [5, 4], null, 'day'],
  ['the day on a tie', [5, 5], null, 'day'],
  ['the exhausted minute, although both are at zero', [0, 0], 'minute', 'minute'],
  ['the exhausted day, although both are at zero', [0, 0], 'day', 'day'],
])('the rate limit headers report %s', (_what, left, exhausted, reported) => {
  const statuses: WindowStatus[] = [
    { name: 'minute', limit: 60, remaining: left[0], resetAt: NOW + MINUTE_MS },
    { name: 'day', limit: 1_000, remaining: left[1], resetAt: NOW + DAY_MS },
  ];
  const { limit, remaining, resetAt } = statuses.find(({ name }) => name === reported)!;
  expect(rateLimitHeaders({ statuses, acceptedAt: null, exhausted }, NOW)).toMatchObject({
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetAt / 1_000),
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
          const { exhausted, statuses } = decide(windows, null, limits, now);
          return statuses.every(({ name, resetAt }) => {
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
    const left = (all: readonly { remaining: number }[]) => all.map(({ remaining }) => remaining).join();
    fc.assert(
      fc.property(anyLimits, steps, (limits, all) => {
        const windows = newWindows();
        let now = START;
        return all.every(([forward, back]) => {
          now += forward;
          const before = left(decide(windows, null, limits, now).statuses);
          now -= back;
          return left(rollWindows(windows, limits, now)) === before;
        });
      }),
    );
  });
});
