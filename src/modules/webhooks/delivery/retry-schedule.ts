// When a delivery is tried again, and what a response means for that.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Milliseconds after the first attempt, the second, …; after one more the delivery has failed. */
export const PAUSES_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
];
/** Pauses are up to 10% longer, so that deliveries that failed together are not retried together. */
export const JITTER = 0.1;

export const DISABLED_AFTER_MS = 5 * 24 * HOUR;

/** For a receiver that asks to slow down without a valid `Retry-After`. */
const SLOW_MS = 10 * SECOND;
const MAX_SLOW_MS = 24 * HOUR;
const SLOW_STATUSES = [429, 502, 503, 504];

export interface Attempt {
  /** Of the response; null when there was none. */
  status: number | null;
  /** Why it failed; null on success. */
  error: string | null;
  /** The response's `Retry-After`. */
  retryAfter?: string;
}

/** How long to pause a receiver that asked to slow down (RFC 9110, section 10.2.3); 0 if it did not. */
export function slowDownMs({ status, retryAfter = '' }: Omit<Attempt, 'error'>, now: number): number {
  if (status === null || !SLOW_STATUSES.includes(status)) {
    return 0;
  }
  // `Date.parse` takes many other texts for dates.
  const date = retryAfter.endsWith(' GMT') ? Date.parse(retryAfter) : NaN;
  const wish = /^\d+$/.test(retryAfter) ? Number(retryAfter) * SECOND : date - now;
  return Number.isNaN(wish) ? SLOW_MS : Math.min(Math.max(wish, SECOND), MAX_SLOW_MS);
}

/** Why a response with this status is a failure; null for a success. */
export function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) {
    return null;
  }
  const isRedirect = status >= 300 && status < 400;
  return `The response was ${status}${isRedirect ? '; redirects are not followed' : ''}.`;
}
