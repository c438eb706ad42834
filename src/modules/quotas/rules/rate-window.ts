// The rule of the fixed windows: a minute from the first request in it, a UTC day, both taken or neither.

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** How far before a day's beginning the clock may be read while that day's count still holds. */
export const CLOCK_STEP_MS = 3_600_000;

/** A start whose minute is over at any unix time, so that "none started" needs no case of its own. */
const NOT_STARTED = -MINUTE_MS;

/** `perDay` is null where there is no day window: an address without a key. */
export interface Limits {
  perMinute: number;
  perDay: number | null;
}

/** Mutable and flat, because 100,000 of these are read and written a million times a second. */
export interface WindowState {
  /** Unix milliseconds of the first request in the minute. */
  minuteStart: number;
  minuteCount: number;
  /** Requests of the minute that were refunded. */
  minuteRefunds: number;
  /** Days since 1970-01-01 UTC. */
  day: number;
  dayCount: number;
  dayRefunds: number;
}

export type WindowName = 'minute' | 'day';

export interface WindowStanding {
  name: WindowName;
  limit: number;
  remaining: number;
  /** Unix milliseconds, the exact end of the window. */
  resetAt: number;
}

export function newWindowState(now: number): WindowState {
  return {
    minuteStart: NOT_STARTED,
    minuteCount: 0,
    minuteRefunds: 0,
    day: Math.floor(now / DAY_MS),
    dayCount: 0,
    dayRefunds: 0,
  };
}

/** Returns null when taken in both windows, else the exhausted one with the longest wait, nothing taken. */
export function take(state: WindowState, limits: Limits, now: number): WindowName | null {
  settle(state, now);
  const minuteFull = state.minuteCount >= limits.perMinute;
  const dayFull = limits.perDay !== null && state.dayCount >= limits.perDay;
  if (minuteFull && dayFull) return minuteEnd(state, now) > dayEnd(state) ? 'minute' : 'day';
  if (minuteFull) return 'minute';
  if (dayFull) return 'day';

  if (state.minuteStart === NOT_STARTED) state.minuteStart = now;
  state.minuteCount += 1;
  if (limits.perDay !== null) state.dayCount += 1;
  return null;
}

/**
 * Refunds one request taken at that time, only in windows that still contain it. A window refunds at most as many as
 * its limit, or requests that cost nothing would be unlimited work. The minute stays started: its announced end would
 * otherwise move away from a client that waits for it.
 */
export function refund(state: WindowState, { perMinute, perDay }: Limits, takenAt: number): void {
  const inMinute = takenAt >= state.minuteStart && takenAt < state.minuteStart + MINUTE_MS;
  if (inMinute && state.minuteCount > 0 && state.minuteRefunds < perMinute) {
    state.minuteCount -= 1;
    state.minuteRefunds += 1;
  }
  const inDay = perDay !== null && Math.floor(takenAt / DAY_MS) === state.day;
  if (inDay && state.dayCount > 0 && state.dayRefunds < perDay) {
    state.dayCount -= 1;
    state.dayRefunds += 1;
  }
}

/** True when the next request is of a later day than the last one. */
export function isDayOver(state: WindowState, now: number): boolean {
  return Math.floor(now / DAY_MS) > state.day;
}

/** Takes nothing, but settles the state, since an end announced here has to hold for the next request. */
export function standings(state: WindowState, limits: Limits, now: number): WindowStanding[] {
  settle(state, now);
  const minute: WindowStanding = {
    name: 'minute',
    limit: limits.perMinute,
    remaining: Math.max(0, limits.perMinute - state.minuteCount),
    resetAt: minuteEnd(state, now),
  };
  if (limits.perDay === null) return [minute];
  const day: WindowStanding = {
    name: 'day',
    limit: limits.perDay,
    remaining: Math.max(0, limits.perDay - state.dayCount),
    resetAt: dayEnd(state),
  };
  return [minute, day];
}

/** Leaves windows that are over, and repairs those that a clock stepped back has put into the future. */
function settle(state: WindowState, now: number): void {
  if (now < state.minuteStart) {
    // The count is kept, so a step back frees nothing, and the new end is never more than a minute away.
    state.minuteStart = now;
  } else if (now >= state.minuteStart + MINUTE_MS) {
    state.minuteStart = NOT_STARTED;
    state.minuteCount = 0;
    state.minuteRefunds = 0;
  }

  const today = Math.floor(now / DAY_MS);
  if (isDayOver(state, now)) {
    state.day = today;
    state.dayCount = 0;
    state.dayRefunds = 0;
  } else if (now < state.day * DAY_MS - CLOCK_STEP_MS) {
    // Within a small step before midnight the later day keeps its count and its end: it is spent once, and the
    // wait is a day and that step at most. A clock found to be further off must not lock anyone out for the days
    // it was wrong by, so then the count moves to the day it is now.
    state.day = today;
  }
}

function minuteEnd(state: WindowState, now: number): number {
  return (state.minuteStart === NOT_STARTED ? now : state.minuteStart) + MINUTE_MS;
}

function dayEnd(state: WindowState): number {
  return (state.day + 1) * DAY_MS;
}
