import {
  CLOCK_STEP_MS,
  DAY_MS,
  MINUTE_MS,
  refund,
  newWindowState,
  standings,
  take,
  type Limits,
  type WindowName,
  type WindowState,
} from '../../../src/modules/quotas/rules/rate-window';

// What a client does while time goes forward is held against a naive count in rate-window.properties.spec.ts.

const MIDNIGHT = Date.UTC(2026, 10, 21);
const NOON = MIDNIGHT + DAY_MS / 2;

function remaining(state: WindowState, limits: Limits, now: number): number[] {
  return standings(state, limits, now).map((standing) => standing.remaining);
}

function takeTimes(count: number, state: WindowState, limits: Limits, now: number): (WindowName | null)[] {
  return Array.from({ length: count }, () => take(state, limits, now));
}

const endOfMinute = (state: WindowState, limits: Limits, now: number) =>
  standings(state, limits, now)[0]!.resetAt;

it('The minute starts at its first request that is not refused, and ends exactly 60 s later', () => {
  const limits: Limits = { perMinute: 2, perDay: null };
  const state = newWindowState(NOON);
  expect(standings(state, limits, NOON + 5)).toEqual([
    { name: 'minute', limit: 2, remaining: 2, resetAt: NOON + 5 + MINUTE_MS },
  ]);
  expect(take(state, { perMinute: 2, perDay: 0 }, NOON + 6)).toBe('day');
  expect(take(state, limits, NOON + 7)).toBeNull();
  expect(take(state, limits, NOON + 30_000)).toBeNull();
  expect(endOfMinute(state, limits, NOON + 30_000)).toBe(NOON + 7 + MINUTE_MS);
  expect(take(state, limits, NOON + 6 + MINUTE_MS)).toBe('minute');
  expect(take(state, limits, NOON + 7 + MINUTE_MS)).toBeNull();
  expect(endOfMinute(state, limits, NOON + 7 + MINUTE_MS)).toBe(NOON + 7 + 2 * MINUTE_MS);
});

it('The day is the UTC day, full again at midnight, and does not exist without a daily limit', () => {
  const limits: Limits = { perMinute: 10, perDay: 3 };
  const last = MIDNIGHT + DAY_MS - 1;
  const state = newWindowState(NOON);
  take(state, { ...limits, perDay: null }, last);
  expect(takeTimes(4, state, limits, last)).toEqual([null, null, null, 'day']);
  expect(standings(state, limits, last)[1]).toMatchObject({ remaining: 0, resetAt: last + 1 });
  expect(take(state, limits, last + 1)).toBeNull();
  expect(standings(state, limits, last + 1)[1]).toMatchObject({ remaining: 2, resetAt: last + 1 + DAY_MS });
});

it.each<[Limits, number[]]>([
  [{ perMinute: 10, perDay: 3 }, [7, 0]],
  [{ perMinute: 2, perDay: 3 }, [0, 1]],
])('A window that refuses leaves the other one alone: %j', (limits, left) => {
  const state = newWindowState(NOON);
  takeTimes(20, state, limits, NOON);
  expect(remaining(state, limits, NOON)).toEqual(left);
});

it.each([
  ['the day at noon', NOON, 'day'],
  ['the minute when it outlasts the day', MIDNIGHT + DAY_MS - 10_000, 'minute'],
  ['the day on a tie', MIDNIGHT + DAY_MS - MINUTE_MS, 'day'],
])('Of two exhausted windows a refusal names %s', (_, now, expected) => {
  expect(takeTimes(2, newWindowState(now), { perMinute: 1, perDay: 1 }, now)).toEqual([null, expected]);
});

it('Raised limits apply from the next request, because refusals used no quota; lowered ones never produce a negative remaining', () => {
  const state = newWindowState(NOON);
  takeTimes(50, state, { perMinute: 2, perDay: 10 }, NOON);
  expect(takeTimes(4, state, { perMinute: 5, perDay: 10 }, NOON)).toEqual([null, null, null, 'minute']);
  expect(remaining(state, { perMinute: 3, perDay: 4 }, NOON)).toEqual([0, 0]);
});

describe('a refund', () => {
  const limits: Limits = { perMinute: 5, perDay: 8 };

  it('restores both counts, never below zero, and keeps the announced end', () => {
    const state = newWindowState(NOON);
    take(state, limits, NOON);
    for (let i = 0; i < 3; i += 1) refund(state, limits, NOON);
    expect(remaining(state, limits, NOON + 1)).toEqual([5, 8]);
    expect(endOfMinute(state, limits, NOON + 1)).toBe(NOON + MINUTE_MS);
  });

  it.each([
    ['the minute', NOON, NOON + MINUTE_MS],
    ['the day', MIDNIGHT + DAY_MS - 1, MIDNIGHT + DAY_MS],
  ])('restores only the other window when %s has changed', (_which, takenAt, now) => {
    const state = newWindowState(takenAt);
    take(state, limits, takenAt);
    take(state, limits, now);
    refund(state, limits, takenAt);
    expect(remaining(state, limits, now)).toEqual([4, 7]);
  });

  it('is refused after as many as the limit, and possible again in the next window and on a larger plan', () => {
    const state = newWindowState(NOON);
    const refunded = (count: number, now: number, given = limits): number[] => {
      for (let sent = 0; sent < count; sent += 1) {
        expect(take(state, given, now)).toBeNull();
        refund(state, given, now);
      }
      return remaining(state, given, now);
    };
    expect(refunded(5, NOON)).toEqual([5, 8]);
    expect(refunded(2, NOON)).toEqual([3, 8]);
    expect(refunded(3, NOON + MINUTE_MS)).toEqual([5, 6]);
    expect(refunded(3, NOON + MINUTE_MS, { perMinute: 5, perDay: 20 })).toEqual([4, 18]);
    expect(refunded(8, NOON + DAY_MS, { perMinute: 100, perDay: 8 })).toEqual([100, 8]);
    expect(refunded(7, NOON + DAY_MS + MINUTE_MS, { perMinute: 5, perDay: null })).toEqual([3]);
  });
});

describe('a clock that steps back', () => {
  it('keeps the minute’s count and ends it a minute from now', () => {
    const limits: Limits = { perMinute: 2, perDay: null };
    const state = newWindowState(NOON);
    takeTimes(2, state, limits, NOON);
    expect(take(state, limits, NOON - 1_000_000)).toBe('minute');
    expect(endOfMinute(state, limits, NOON - 1_000_000)).toBe(NOON - 1_000_000 + MINUTE_MS);
    expect(take(state, limits, NOON - 1_000_000 + MINUTE_MS)).toBeNull();
  });

  it('uses up the later day once, when it was an hour wrong across midnight', () => {
    const limits: Limits = { perMinute: 1_000, perDay: 100 };
    const before = MIDNIGHT - 20 * MINUTE_MS;
    const state = newWindowState(before);
    const spent = (at: number): number => takeTimes(150, state, limits, at).filter((r) => r === null).length;
    expect(spent(before)).toBe(100);
    expect(spent(before + CLOCK_STEP_MS)).toBe(100);
    expect(spent(before + MINUTE_MS)).toBe(0);
    expect(standings(state, limits, before + MINUTE_MS)[1]?.resetAt).toBe(MIDNIGHT + DAY_MS);
    expect(spent(MIDNIGHT)).toBe(0);
    expect(spent(MIDNIGHT + DAY_MS)).toBe(100);
  });

  it('locks nobody out beyond today if it was days wrong', () => {
    const limits: Limits = { perMinute: 1_000, perDay: 3 };
    const state = newWindowState(NOON + 10 * DAY_MS);
    takeTimes(3, state, limits, NOON + 10 * DAY_MS);
    expect(take(state, limits, NOON)).toBe('day');
    expect(standings(state, limits, NOON)[1]?.resetAt).toBe(MIDNIGHT + DAY_MS);
    expect(take(state, limits, MIDNIGHT + DAY_MS)).toBeNull();
  });
});
