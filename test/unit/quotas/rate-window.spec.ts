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

const MIDNIGHT = Date.UTC(2026, 10, 21);
const NOON = MIDNIGHT + DAY_MS / 2;

function remaining(state: WindowState, limits: Limits, now: number): number[] {
  return standings(state, limits, now).map((standing) => standing.remaining);
}

function takeTimes(count: number, state: WindowState, limits: Limits, now: number): (WindowName | null)[] {
  return Array.from({ length: count }, () => take(state, limits, now));
}

describe('the minute window', () => {
  const limits: Limits = { perMinute: 2, perDay: null };

  it('is full, and a minute from its end, until a request starts it', () => {
    const state = newWindowState(NOON);
    expect(standings(state, limits, NOON + 5)).toEqual([
      { name: 'minute', limit: 2, remaining: 2, resetAt: NOON + 5 + MINUTE_MS },
    ]);
    expect(standings(state, limits, NOON + 9)[0]?.resetAt).toBe(NOON + 9 + MINUTE_MS);
  });

  it('starts at its first request and ends exactly 60 s later', () => {
    const state = newWindowState(NOON);
    expect(take(state, limits, NOON + 7)).toBeNull();
    expect(take(state, limits, NOON + 30_000)).toBeNull();
    expect(standings(state, limits, NOON + 30_000)[0]?.resetAt).toBe(NOON + 7 + MINUTE_MS);
    expect(take(state, limits, NOON + 6 + MINUTE_MS)).toBe('minute');
    expect(take(state, limits, NOON + 7 + MINUTE_MS)).toBeNull();
    expect(standings(state, limits, NOON + 7 + MINUTE_MS)[0]).toMatchObject({
      remaining: 1,
      resetAt: NOON + 7 + 2 * MINUTE_MS,
    });
  });

  it('is not started by a refused request', () => {
    const state = newWindowState(NOON);
    const dayOfNone: Limits = { perMinute: 2, perDay: 0 };
    expect(take(state, dayOfNone, NOON)).toBe('day');
    expect(standings(state, dayOfNone, NOON + 10)[0]?.resetAt).toBe(NOON + 10 + MINUTE_MS);
  });
});

describe('the day window', () => {
  const limits: Limits = { perMinute: 10, perDay: 3 };

  it('is the UTC day, full again at midnight', () => {
    const last = MIDNIGHT + DAY_MS - 1;
    const state = newWindowState(NOON);
    expect(takeTimes(4, state, limits, last)).toEqual([null, null, null, 'day']);
    expect(standings(state, limits, last)[1]).toMatchObject({ remaining: 0, resetAt: last + 1 });
    expect(take(state, limits, last + 1)).toBeNull();
    expect(standings(state, limits, last + 1)[1]).toMatchObject({
      remaining: 2,
      resetAt: last + 1 + DAY_MS,
    });
  });

  it('refuses without using the minute, and vice versa', () => {
    const state = newWindowState(NOON);
    takeTimes(20, state, limits, NOON);
    expect(remaining(state, limits, NOON)).toEqual([7, 0]);
    const other = newWindowState(NOON);
    takeTimes(20, other, { perMinute: 2, perDay: 3 }, NOON);
    expect(remaining(other, { perMinute: 2, perDay: 3 }, NOON)).toEqual([0, 1]);
  });

  it('does not exist without a daily limit', () => {
    const state = newWindowState(NOON);
    take(state, { perMinute: 10, perDay: null }, NOON);
    expect(state.dayCount).toBe(0);
  });
});

describe('both windows exhausted', () => {
  const limits: Limits = { perMinute: 1, perDay: 1 };

  it.each([
    ['the day at noon', NOON, 'day'],
    ['the minute when it outlasts the day', MIDNIGHT + DAY_MS - 10_000, 'minute'],
    ['the day on a tie', MIDNIGHT + DAY_MS - MINUTE_MS, 'day'],
  ])('names %s', (_, now, expected) => {
    const state = newWindowState(now);
    expect(takeTimes(2, state, limits, now)).toEqual([null, expected]);
  });
});

describe('changed limits', () => {
  it('apply from the next request when raised, because refusals used no quota', () => {
    const state = newWindowState(NOON);
    takeTimes(50, state, { perMinute: 2, perDay: 10 }, NOON);
    expect(takeTimes(4, state, { perMinute: 5, perDay: 10 }, NOON)).toEqual([null, null, null, 'minute']);
  });

  it('never produce a negative remaining when lowered', () => {
    const state = newWindowState(NOON);
    takeTimes(9, state, { perMinute: 10, perDay: 10 }, NOON);
    expect(remaining(state, { perMinute: 3, perDay: 4 }, NOON)).toEqual([0, 0]);
  });
});

describe('a refund', () => {
  const limits: Limits = { perMinute: 5, perDay: 8 };

  it('restores both counts and keeps the announced end', () => {
    const state = newWindowState(NOON);
    take(state, limits, NOON);
    refund(state, limits, NOON);
    expect(remaining(state, limits, NOON + 1)).toEqual([5, 8]);
    expect(standings(state, limits, NOON + 1)[0]?.resetAt).toBe(NOON + MINUTE_MS);
  });

  it('restores only the day when the minute has changed', () => {
    const state = newWindowState(NOON);
    take(state, limits, NOON);
    take(state, limits, NOON + MINUTE_MS);
    refund(state, limits, NOON);
    expect(remaining(state, limits, NOON + MINUTE_MS)).toEqual([4, 7]);
  });

  it('restores only the minute when the day has changed', () => {
    const late = MIDNIGHT + DAY_MS - 1;
    const state = newWindowState(late);
    take(state, limits, late);
    take(state, limits, late + 1);
    refund(state, limits, late);
    expect(remaining(state, limits, late + 1)).toEqual([4, 7]);
  });

  it('never goes below zero', () => {
    const state = newWindowState(NOON);
    take(state, limits, NOON);
    for (let i = 0; i < 3; i += 1) refund(state, limits, NOON);
    expect(remaining(state, limits, NOON)).toEqual([5, 8]);
  });

  describe('after as many refunds as the limit', () => {
    function sendRefunded(count: number, state: WindowState, limits: Limits, now: number): void {
      for (let sent = 0; sent < count; sent += 1) {
        expect(take(state, limits, now)).toBeNull();
        refund(state, limits, now);
      }
    }

    it('is refused in that minute: from then on requests count', () => {
      const state = newWindowState(NOON);
      sendRefunded(5, state, limits, NOON);
      expect(remaining(state, limits, NOON)).toEqual([5, 8]);
      sendRefunded(3, state, limits, NOON);
      expect(remaining(state, limits, NOON)).toEqual([2, 8]);
      sendRefunded(2, state, limits, NOON);
      expect(take(state, limits, NOON)).toBe('minute');
    });

    it('is possible again in the next minute', () => {
      const state = newWindowState(NOON);
      const manyADay: Limits = { perMinute: 5, perDay: 100 };
      sendRefunded(10, state, manyADay, NOON);
      sendRefunded(5, state, manyADay, NOON + MINUTE_MS);
      expect(remaining(state, manyADay, NOON + MINUTE_MS)).toEqual([5, 100]);
    });

    it('is refused for the rest of the day, whatever the minute allows', () => {
      const state = newWindowState(NOON);
      sendRefunded(10, state, { perMinute: 100, perDay: 8 }, NOON);
      expect(remaining(state, { perMinute: 100, perDay: 8 }, NOON)).toEqual([100, 6]);
      sendRefunded(8, state, { perMinute: 100, perDay: 8 }, MIDNIGHT + DAY_MS);
      expect(remaining(state, { perMinute: 100, perDay: 8 }, MIDNIGHT + DAY_MS)).toEqual([100, 8]);
    });

    it('is refused for an address too, which has no daily limit', () => {
      const state = newWindowState(NOON);
      const ofAddress: Limits = { perMinute: 5, perDay: null };
      sendRefunded(10, state, ofAddress, NOON);
      expect(take(state, ofAddress, NOON)).toBe('minute');
    });

    it('is possible on a larger plan', () => {
      const state = newWindowState(NOON);
      sendRefunded(6, state, limits, NOON);
      sendRefunded(4, state, { perMinute: 9, perDay: 20 }, NOON);
      expect(remaining(state, { perMinute: 9, perDay: 20 }, NOON)).toEqual([8, 20]);
    });
  });
});

describe('a clock that steps back', () => {
  it('keeps the minute’s count and ends it a minute from now', () => {
    const limits: Limits = { perMinute: 2, perDay: null };
    const state = newWindowState(NOON);
    takeTimes(2, state, limits, NOON);
    expect(take(state, limits, NOON - 1_000_000)).toBe('minute');
    expect(standings(state, limits, NOON - 1_000_000)[0]?.resetAt).toBe(NOON - 1_000_000 + MINUTE_MS);
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
