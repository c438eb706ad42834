// When an attempt to deliver is made again, and what a response means for that.

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
/** Each pause is up to a tenth longer, so that what failed together does not come back together. */
const JITTER = 0.1;

export const MAX_ATTEMPTS = PAUSES_MS.length + 1;
/** A webhook on which everything has failed for so long is disabled. */
export const DISABLED_AFTER_MS = 5 * 24 * HOUR;

/** A receiver that says "slow down" without saying for how long. */
const SLOW_MS = 10 * SECOND;
const LONGEST_SLOW_MS = 24 * HOUR;
const SLOW_STATUSES = [429, 502, 503, 504];

/** What came of an attempt. */
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
 * @returns milliseconds until the next one; null when there is none
 */
export function pauseAfter(attempts: number, random: number): number | null {
  const pause = PAUSES_MS[attempts - 1];
  return pause === undefined ? null : Math.round(pause * (1 + JITTER * random));
}

export function isSuccess({ status }: Attempt): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** The receiver wants nothing any more. */
export function isGone({ status }: Attempt): boolean {
  return status === 410;
}

/** How long nothing else is sent to a receiver, because it asked to slow down; 0 when it did not. */
export function slowDownMs({ status, retryAfter }: Attempt, now: number): number {
  if (status === null || !SLOW_STATUSES.includes(status)) {
    return 0;
  }
  const wish = retryAfter === undefined ? NaN : millisecondsOf(retryAfter, now);
  return Number.isNaN(wish) ? SLOW_MS : Math.min(Math.max(wish, SECOND), LONGEST_SLOW_MS);
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function millisecondsOf(retryAfter: string, now: number): number {
  return /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * SECOND : Date.parse(retryAfter) - now;
}

/** Why an attempt failed, for the delivery's `error`; null when it did not. */
export function errorOf(attempt: Attempt): string | null {
  if (isSuccess(attempt)) {
    return null;
  }
  const { status, failure } = attempt;
  if (status === null) {
    return failure ?? 'There was no response.';
  }
  return status >= 300 && status < 400
    ? `The response was ${status}; redirects are not followed.`
    : `The response was ${status}.`;
}
