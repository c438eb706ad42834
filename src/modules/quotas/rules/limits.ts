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

/**
 * A plan, with its limits if they are agreed with the client.
 * @throws Error, for the operator, for an unknown plan, a missing limit, or limits for a plan with fixed ones
 */
export function agreedPlan(plan: string, perMinute?: number, perDay?: number) {
  const fixed = LIMITS.get(plan);
  if (fixed === undefined) {
    throw new Error(`There is no plan ${plan}. Plans are ${PLANS.join(', ')}.`);
  }
  if (fixed === null) {
    if (perMinute === undefined || perDay === undefined) {
      throw new Error(`The plan ${plan} needs both --per-minute and --per-day.`);
    }
    return { plan, perMinute, perDay };
  }
  if (perMinute !== undefined || perDay !== undefined) {
    throw new Error(
      `The plan ${plan} has fixed limits; only ${AGREED_PLANS.join(' and ')} takes --per-minute and --per-day.`,
    );
  }
  return { plan, perMinute: null, perDay: null };
}

/**
 * The limits in force for a client.
 * @throws Error for a plan that this version of the service does not know: during an update, a newer one runs beside it
 */
export function limitsOf(terms: { plan: string } & Record<keyof Limits, number | null>): Limits {
  const { plan, perMinute, perDay } = terms;
  const fixed = LIMITS.get(plan);
  if (fixed) {
    return fixed;
  }
  if (perMinute === null || perDay === null) {
    throw new Error(`This version of the service knows no limits of the plan ${plan}.`);
  }
  return { perMinute, perDay };
}

// Fixed windows: a minute that starts with its first request, and a UTC day. A request takes from both or from neither.
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** `perDay` is null for an address, which has no day window. */
export interface Limits {
  perMinute: number;
  perDay: number | null;
}

export type WindowName = 'minute' | 'day';

/** Its start in unix milliseconds, and how many requests were counted and refunded since. The next request starts one that is over. */
export interface Window {
  start: number;
  count: number;
  refunds: number;
}

export type Windows = Record<WindowName, Window>;

export interface WindowStatus {
  name: WindowName;
  limit: number;
  remaining: number;
  /** Unix milliseconds, the exact end of the window. */
  resetAt: number;
}

export const WINDOW_MS: Readonly<Record<WindowName, number>> = { minute: MINUTE_MS, day: DAY_MS };

export function newWindows(): Windows {
  const neverStarted = { start: 0, count: 0, refunds: 0 };
  return { minute: { ...neverStarted }, day: { ...neverStarted } };
}

export function copyOf({ minute, day }: Windows): Windows {
  return { minute: { ...minute }, day: { ...day } };
}

export function startOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}

/** Takes from all windows and returns null, or takes nothing and returns the exhausted window with the longest wait. */
export function take(windows: Windows, limits: Limits, now: number): WindowStatus | null {
  const current = windowStatuses(windows, limits, now);
  const exhausted = current.filter(({ remaining }) => remaining === 0);
  if (exhausted.length > 0) {
    return exhausted.reduce((one, other) => (other.resetAt >= one.resetAt ? other : one));
  }
  for (const { name, resetAt } of current) {
    windows[name].start = resetAt - WINDOW_MS[name];
    windows[name].count += 1;
  }
  return null;
}

/**
 * Refunds a request taken at that time, in the windows that still contain it. A window refunds at most its limit;
 * otherwise free requests would be unlimited. The minute stays started, because its end has been announced.
 * @returns the windows in which it was refunded
 */
export function refund(windows: Windows, limits: Limits, takenAt: number, now: number): WindowName[] {
  const refunded = windowStatuses(windows, limits, now).filter(({ name, limit, resetAt }) => {
    const { start, count, refunds } = windows[name];
    return takenAt >= start && takenAt < resetAt && count > 0 && refunds < limit;
  });
  refunded.forEach(({ name }) => {
    windows[name].count -= 1;
    windows[name].refunds += 1;
  });
  return refunded.map(({ name }) => name);
}

/** The shortest window comes first. Starts none, but empties what is over. */
export function windowStatuses(windows: Windows, { perMinute, perDay }: Limits, now: number): WindowStatus[] {
  const minute = statusOf('minute', windows.minute, perMinute, now, now);
  return perDay === null ? [minute] : [minute, statusOf('day', windows.day, perDay, now, startOfDay(now))];
}

/** @param start where the window would start now */
function statusOf(name: WindowName, window: Window, limit: number, now: number, start: number): WindowStatus {
  const isOver = now >= window.start + WINDOW_MS[name];
  if (isOver) {
    Object.assign(window, { count: 0, refunds: 0 });
  } else if (now < window.start) {
    // The clock was set back: the window keeps its count.
    window.start = start;
  }
  const remaining = Math.max(0, limit - window.count);
  return { name, limit, remaining, resetAt: (isOver ? start : window.start) + WINDOW_MS[name] };
}

/** Raises the counts of a window to those of another window of the same length, unless the other window is over. */
export function raise(window: Window, other: Window, lengthMs: number, now: number): void {
  if (now >= other.start + lengthMs) return;
  if (now >= window.start + lengthMs) Object.assign(window, { start: other.start, count: 0, refunds: 0 });
  window.count = Math.max(window.count, other.count);
  window.refunds = Math.max(window.refunds, other.refunds);
}

/** What each instance may allow while the instances cannot share their counts; at least one request. */
export function shareOf({ perMinute, perDay }: Limits, instances: number): Limits {
  const part = (limit: number) => Math.max(1, Math.floor(limit / instances));
  return { perMinute: part(perMinute), perDay: perDay === null ? null : part(perDay) };
}

/**
 * The windows in which an instance that counts alone goes on, with its share of the limits. Of the minute it allows what was
 * left, but at most its share. Of the day it allows its share of what was left: outages are no new day.
 */
export function shareOfRest({ minute, day }: Windows, limits: Limits, instances: number): Windows {
  const share = shareOf(limits, instances);
  const minuteLeft = limits.perMinute - minute.count;
  const dayLeft = Math.ceil(((limits.perDay ?? 0) - day.count) / instances);
  return {
    minute: { ...minute, count: Math.max(0, share.perMinute - minuteLeft) },
    day: { ...day, count: (share.perDay ?? 0) - dayLeft },
  };
}
