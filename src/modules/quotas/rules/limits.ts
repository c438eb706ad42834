/** The limits of each plan. Null means that the limits are agreed with each client. */
export const PLAN_LIMITS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: null,
} as const satisfies Record<string, Limits | null>;

export type Plan = keyof typeof PLAN_LIMITS;
export const PLANS = Object.keys(PLAN_LIMITS) as Plan[];

/** PLAN_LIMITS as a map, to look up names that may be no plan. A lookup allocates nothing, because its objects are shared. */
const LIMITS: ReadonlyMap<string, Limits | null> = new Map(Object.entries(PLAN_LIMITS));

export const ADDRESS_LIMITS: Limits = { perMinute: 60, perDay: null };

export const AGREED_PLANS = PLANS.filter((plan) => PLAN_LIMITS[plan] === null);

/**
 * Checks the plan that an operator has chosen for a client, with its limits.
 * @throws Error if the plan is unknown, a limit is missing, or the plan has fixed limits; the message is for the operator
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

/** @throws Error if only a newer version of the service, which may run at the same time during an update, knows the plan */
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

// Requests are counted in two windows: a minute that starts with its first request, and the UTC day.
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

export interface Limits {
  perMinute: number;
  perDay: number | null;
}

export type WindowName = 'minute' | 'day';

/** `start` is in unix milliseconds. The first request after the end of the window sets a new start and new counts. */
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
  /** The exact end of the window, in unix milliseconds. */
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

/** Counts a request in all windows, or returns the exhausted window that ends last and counts nothing. */
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
 * Refunds a request in the windows that were running at `takenAt` and are still running. A window refunds at most as many requests
 * as its limit, because refunded requests would otherwise be unlimited. The minute keeps its start, because its end was reported.
 * @returns the windows in which the request was refunded
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

/** Returns the status of each window, the minute first. Sets the counts of windows that are over to 0, but starts no window. */
export function windowStatuses(windows: Windows, { perMinute, perDay }: Limits, now: number): WindowStatus[] {
  const minute = statusOf('minute', windows.minute, perMinute, now, now);
  return perDay === null ? [minute] : [minute, statusOf('day', windows.day, perDay, now, startOfDay(now))];
}

/** @param start the time at which a request would start a new window */
function statusOf(name: WindowName, window: Window, limit: number, now: number, start: number): WindowStatus {
  const isOver = now >= window.start + WINDOW_MS[name];
  if (isOver) {
    Object.assign(window, { count: 0, refunds: 0 });
  } else if (now < window.start) {
    // The clock was set back: move the start of the window, but keep its count.
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

/** Returns the limits of one instance while the instances cannot share counts: an equal part, but at least one request. */
export function shareOf({ perMinute, perDay }: Limits, instances: number): Limits {
  const part = (limit: number) => Math.max(1, Math.floor(limit / instances));
  return { perMinute: part(perMinute), perDay: perDay === null ? null : part(perDay) };
}

/**
 * Returns the windows with which an instance starts to count alone. The minute allows the requests that were left, but at most the
 * instance's share. The day allows the instance's share of the requests that were left, so that an outage gives nobody a new day.
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
