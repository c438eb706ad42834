// The limits of the plans, and how requests are counted in the minute and the day.
// The script in quota-script.ts repeats these rules for Redis. test/system/quotas/redis-counters.spec.ts fails if the two differ.
import { DAY_MS } from '#libs/clock';

/** Requests per minute and day. Null means that an operator sets the limits of each client with this plan. */
export const PLAN_LIMITS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: null,
} as const satisfies Record<string, Limits | null>;

export type Plan = keyof typeof PLAN_LIMITS;
export const PLANS = Object.keys(PLAN_LIMITS) as Plan[];

export const ADDRESS_LIMITS: Limits = { perMinute: 60, perDay: null };

export const AGREED_PLANS = PLANS.filter((plan) => PLAN_LIMITS[plan] === null);

/** @throws Error if this version of the service does not know the plan, which a newer version may have added */
export function limitsOf(terms: { plan: string } & Record<keyof Limits, number | null>): Limits {
  const { plan, perMinute, perDay } = terms;
  const fixed: Limits | null | undefined = PLAN_LIMITS[plan as Plan];
  if (fixed) {
    return fixed;
  }
  if (perMinute === null || perDay === null) {
    throw new Error(`This version of the service knows no limits of the plan ${plan}.`);
  }
  return { perMinute, perDay };
}

// The minute in which requests are counted starts with a client's first request, not with a minute of the clock.
export const MINUTE_MS = 60_000;

export interface Limits {
  perMinute: number;
  perDay: number | null;
}

export type WindowName = 'minute' | 'day';

/** A period in which requests are counted. */
export interface Window {
  /** When this period began, in unix milliseconds. */
  start: number;
  /** Number of requests without refunded requests. */
  count: number;
  /**
   * Number of refunded requests. If the response to a counted request is a 304 or a 5xx, the request is refunded, that
   * is, subtracted from the counts again.
   */
  refunds: number;
}

export type Windows = Record<WindowName, Window>;

export interface WindowStatus {
  name: WindowName;
  limit: number;
  remaining: number;
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

/**
 * Counts a request in the minute and in the day, and returns null. If the limit of one of these windows is reached,
 * counts nothing and returns this window. If both limits are reached, returns the window that ends later, because no
 * request is allowed before its end.
 */
export function take(windows: Windows, limits: Limits, now: number): WindowStatus | null {
  const current = rollWindows(windows, limits, now);
  let exhausted: WindowStatus | null = null;
  for (const status of current) {
    if (status.remaining === 0 && (exhausted === null || status.resetAt >= exhausted.resetAt)) {
      exhausted = status;
    }
  }
  if (exhausted !== null) return exhausted;
  for (const { name, resetAt } of current) {
    windows[name].start = resetAt - WINDOW_MS[name];
    windows[name].count += 1;
  }
  return null;
}

/**
 * Subtracts a request, which was counted at `takenAt`, from the counts of the minute and the day. Each window allows
 * only as many refunds as its limit. Otherwise, a caller whose requests are all refunded could send any number of
 * requests.
 * @returns the names of the windows from which the request was subtracted
 */
export function refund(windows: Windows, limits: Limits, takenAt: number, now: number): WindowName[] {
  const refunded = rollWindows(windows, limits, now).filter(({ name, limit, resetAt }) => {
    const { start, count, refunds } = windows[name];
    return takenAt >= start && takenAt < resetAt && count > 0 && refunds < limit;
  });
  refunded.forEach(({ name }) => {
    windows[name].count -= 1;
    windows[name].refunds += 1;
  });
  return refunded.map(({ name }) => name);
}

/**
 * Brings both windows up to date: the counts of a window that has ended become 0, and a window that lies in the future is
 * moved to the present.
 * @returns the status of each window, the minute first
 */
export function rollWindows(windows: Windows, { perMinute, perDay }: Limits, now: number): WindowStatus[] {
  const minute = rolled('minute', windows.minute, perMinute, now);
  return perDay === null ? [minute] : [minute, rolled('day', windows.day, perDay, now)];
}

/**
 * Brings a window up to date. If the window has ended, its counts become 0. The next counted request then begins the
 * window again. If the window lies in the future, because the clock was set back, the window is moved to the present and
 * keeps its counts.
 * @returns the status of the window
 */
function rolled(name: WindowName, window: Window, limit: number, now: number): WindowStatus {
  const currentStart = name === 'day' ? startOfDay(now) : now;
  const isOver = now >= window.start + WINDOW_MS[name];
  if (isOver) {
    Object.assign(window, { count: 0, refunds: 0 });
  } else if (now < window.start) {
    window.start = currentStart;
  }
  const remaining = Math.max(0, limit - window.count);
  return { name, limit, remaining, resetAt: (isOver ? currentStart : window.start) + WINDOW_MS[name] };
}

/**
 * Divides limits by the number of instances. Each instance applies its part while Redis is unavailable, because the
 * instances then cannot share their counts. Each instance may allow at least one request.
 */
export function shareOf({ perMinute, perDay }: Limits, instances: number): Limits {
  const part = (limit: number) => Math.max(1, Math.floor(limit / instances));
  return { perMinute: part(perMinute), perDay: perDay === null ? null : part(perDay) };
}

/**
 * Converts the counts of all instances into the counts with which one instance continues alone if Redis fails. From
 * then on, the instance applies its share of the limits (`shareOf`). In the current minute, the instance may use up its
 * share, but not more requests than all instances had left. On the current day, each instance may use an equal part of
 * the requests that all instances had left.
 */
export function countsForShare({ minute, day }: Windows, limits: Limits, instances: number): Windows {
  const share = shareOf(limits, instances);
  const leftInMinute = Math.min(share.perMinute, limits.perMinute - minute.count);
  const leftInDay = Math.ceil(((limits.perDay ?? 0) - day.count) / instances);
  return {
    minute: { ...minute, count: share.perMinute - leftInMinute },
    day: { ...day, count: (share.perDay ?? 0) - leftInDay },
  };
}
