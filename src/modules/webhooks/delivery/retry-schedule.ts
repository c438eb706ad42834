// When a delivery is tried again, and what a response means for that.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The pauses after the first attempt, the second, … */
const PAUSES_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** Pauses are up to 10% longer, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

export const MAX_ATTEMPTS = PAUSES_MS.length + 1;
/** A webhook is disabled after failing for this long. */
export const DISABLED_AFTER_MS = 5 * 24 * HOUR;

/** For a receiver that asks to slow down without `Retry-After`. */
const SLOW_MS = 10 * SECOND;
const MAX_SLOW_MS = 24 * HOUR;
const SLOW_STATUSES = [429, 502, 503, 504];

/** The result of an attempt. */
export interface Attempt {
  /** The status of the response; null when there was none. */
  status: number | null;
  /** Why there was no response. */
  failure?: string;
  /** The response's `Retry-After`. */
  retryAfter?: string;
}

/**
 * @param attempts how many were made
 * @param random from 0 to 1
 * @returns milliseconds until the next one; null if there is none
 */
export function pauseAfter(attempts: number, random: number): number | null {
  const pause = PAUSES_MS[attempts - 1];
  return pause === undefined ? null : Math.round(pause * (1 + JITTER * random));
}

/** How long to pause a receiver that asked to slow down; 0 if it did not. */
export function slowDownMs({ status, retryAfter }: Attempt, now: number): number {
  if (status === null || !SLOW_STATUSES.includes(status)) {
    return 0;
  }
  const wish = retryAfter === undefined ? NaN : millisecondsOf(retryAfter, now);
  return Number.isNaN(wish) ? SLOW_MS : Math.min(Math.max(wish, SECOND), MAX_SLOW_MS);
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function millisecondsOf(retryAfter: string, now: number): number {
  return /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * SECOND : Date.parse(retryAfter) - now;
}

/** Why an attempt failed, for the delivery's `error`; null on success. */
export function errorOf({ status, failure }: Attempt): string | null {
  if (status === null) {
    return failure ?? 'There was no response.';
  }
  if (status >= 200 && status < 300) {
    return null;
  }
  return status >= 300 && status < 400
    ? `The response was ${status}; redirects are not followed.`
    : `The response was ${status}.`;
}
