// The plans, and what each of them allows; and the two windows in which requests are counted.

/** The limits of each plan; null if they are agreed with each client. */
export const PLAN_LIMITS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: null,
} as const satisfies Record<string, Limits | null>;

export type Plan = keyof typeof PLAN_LIMITS;
export const PLANS = Object.keys(PLAN_LIMITS) as Plan[];

/** For lookups by any name. Shared objects, so that requests allocate nothing. */
const LIMITS: ReadonlyMap<string, Limits | null> = new Map(Object.entries(PLAN_LIMITS));

/** Limits of an address without a valid key; there is no daily limit. */
export const ADDRESS_LIMITS: Limits = { perMinute: 60, perDay: null };

/** Plans whose limits are agreed with each client. */
export const AGREED_PLANS = PLANS.filter((plan) => PLAN_LIMITS[plan] === null);

/** The plan and the limits do not fit. The message is for the operator. */
export class InvalidPlanError extends Error {}

/**
 * A plan, with its limits if they are agreed with the client.
 * @throws InvalidPlanError for an unknown plan, a missing limit, or limits for a plan with fixed ones
 */
export function agreedPlan(plan: string, perMinute?: number, perDay?: number) {
  const fixed = LIMITS.get(plan);
  if (fixed === undefined) {
    throw new InvalidPlanError(`There is no plan ${plan}. Plans are ${PLANS.join(', ')}.`);
  }
  if (fixed === null) {
    if (perMinute === undefined || perDay === undefined) {
      throw new InvalidPlanError(`The plan ${plan} needs both --per-minute and --per-day.`);
    }
    return { plan, perMinute, perDay };
  }
  if (perMinute !== undefined || perDay !== undefined) {
    throw new InvalidPlanError(
      `The plan ${plan} has fixed limits; only ${AGREED_PLANS.join(' and ')} takes --per-minute and --per-day.`,
    );
  }
  return { plan, perMinute: null, perDay: null };
}

/** A client has a plan that this version of the service does not know: during an update, a newer one runs beside it. */
export class UnknownPlanError extends Error {}

/**
 * The limits in force for a client.
 * @throws UnknownPlanError
 */
export function limitsOf(terms: { plan: string } & Record<keyof Limits, number | null>): Limits {
  const { plan, perMinute, perDay } = terms;
  const fixed = LIMITS.get(plan);
  if (fixed) {
    return fixed;
  }
  if (perMinute === null || perDay === null) {
    throw new UnknownPlanError(`This version of the service knows no limits of the plan ${plan}.`);
  }
  return { perMinute, perDay };
}

/**
 * What each instance may allow while the instances cannot share their counts: an equal share of the minute, and of what was
 * left of the day when this instance started to count locally; at least one request. The day's earlier usage is part of the
 * limit, because it is part of the count.
 */
export function shareOf(limits: Limits, instances: number, usedOfDay: number): Limits {
  const { perMinute, perDay } = limits;
  return {
    perMinute: part(perMinute, instances),
    perDay: perDay === null || perDay <= usedOfDay ? perDay : usedOfDay + part(perDay - usedOfDay, instances),
  };
}

/** The windows in which an instance that counts alone goes on: of the minute, it allows what was left, but at most its share. */
export function shareOfRest(windows: WindowState, { perMinute }: Limits, instances: number): WindowState {
  const left = Math.max(0, perMinute - windows.minuteCount);
  return { ...windows, minuteCount: Math.max(0, part(perMinute, instances) - left) };
}

function part(limit: number, instances: number): number {
  return Math.max(1, Math.floor(limit / instances));
}

// Fixed windows: a minute that starts with its first request, and a UTC day. A request takes from both or from neither.
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** How far the clock may step back before midnight without leaving the new day. */
export const CLOCK_STEP_MS = 3_600_000;

/** A start whose minute is always over, so that "not started" needs no special case. */
const NOT_STARTED = -MINUTE_MS;

/** `perDay` is null for an address, which has no day window. */
export interface Limits {
  perMinute: number;
  perDay: number | null;
}

/** Mutable and flat for speed: there may be 100,000 of these, updated a million times a second. */
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

export interface WindowStatus {
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

/** Takes from both windows and returns null, or takes nothing and returns the exhausted window with the longest wait. */
export function take(state: WindowState, limits: Limits, now: number): WindowName | null {
  settle(state, now);
  const minuteFull = state.minuteCount >= limits.perMinute;
  const dayFull = limits.perDay !== null && state.dayCount >= limits.perDay;
  if (minuteFull && dayFull) return endOf(state, 'minute', now) > endOf(state, 'day', now) ? 'minute' : 'day';
  if (minuteFull) return 'minute';
  if (dayFull) return 'day';

  if (state.minuteStart === NOT_STARTED) state.minuteStart = now;
  state.minuteCount += 1;
  if (limits.perDay !== null) state.dayCount += 1;
  return null;
}

/**
 * Refunds a request taken at that time, in the windows that still contain it. A window refunds at most its limit;
 * otherwise free requests would be unlimited. The minute stays started, because its end has been announced.
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

/** True if a new day has started since the last request. */
export function isDayOver(state: WindowState, now: number): boolean {
  return Math.floor(now / DAY_MS) > state.day;
}

/** Takes nothing, but settles the state, because the end announced here must hold for the next request. */
export function windowStatuses(state: WindowState, limits: Limits, now: number): WindowStatus[] {
  settle(state, now);
  const minute: WindowStatus = {
    name: 'minute',
    limit: limits.perMinute,
    remaining: Math.max(0, limits.perMinute - state.minuteCount),
    resetAt: endOf(state, 'minute', now),
  };
  if (limits.perDay === null) return [minute];
  const day: WindowStatus = {
    name: 'day',
    limit: limits.perDay,
    remaining: Math.max(0, limits.perDay - state.dayCount),
    resetAt: endOf(state, 'day', now),
  };
  return [minute, day];
}

/** Closes windows that are over, and corrects windows in the future after the clock was set back. */
function settle(state: WindowState, now: number): void {
  if (now < state.minuteStart) {
    // Keeps the count; the new end is at most a minute away.
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
    // After a small step back across midnight, the later day stays current. After a larger one the count moves to the
    // current day, so that a wrong clock does not lock anyone out for days.
    state.day = today;
  }
}

/** The exact end of a window. */
export function endOf({ minuteStart, day }: WindowState, name: WindowName, now: number): number {
  if (name === 'day') return (day + 1) * DAY_MS;
  return (minuteStart === NOT_STARTED ? now : minuteStart) + MINUTE_MS;
}
