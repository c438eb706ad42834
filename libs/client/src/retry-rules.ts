// Which failures are worth another attempt, and how long to wait before it. Pure: no time and no network.

/** The parts of a failed attempt that decide about another one. */
export interface Failure {
  code: string;
  /** The HTTP status; 0 without a response. */
  status: number;
}

const FIRST_SPREAD_MS = 500;
const MAX_SPREAD_MS = 10_000;

/** Statuses of a service or proxy that could not serve the request just now. */
const UNAVAILABLE = new Set([502, 503, 504]);

/**
 * Whether another attempt may succeed and is safe. Not during a ban: a program should not decide to wait for its end.
 * @param method in capitals
 */
export function isWorthRepeating({ code, status }: Failure, method: string): boolean {
  // The service did nothing after a 429. An attempt whose response was lost may still run; its response is stored.
  if (status === 429 || code === 'idempotency_in_progress') {
    return true;
  }
  // Without a response the outcome is unknown. Only PATCH is not idempotent: every POST has an Idempotency-Key.
  return method !== 'PATCH' && (code === 'no_answer' || UNAVAILABLE.has(status));
}

/**
 * How long to wait before the next attempt: the `Retry-After` of the service plus a random delay, whose range doubles
 * with each attempt, so that clients refused together do not return together. Without `Retry-After`, the wait is at
 * least half of that range.
 * @param attempt the attempt that failed, from 1
 * @param random from 0 to below 1
 * @returns milliseconds
 */
export function waitBeforeNext(
  retryAfterSeconds: number | undefined,
  attempt: number,
  random: number,
): number {
  const spread = Math.min(FIRST_SPREAD_MS * 2 ** (attempt - 1), MAX_SPREAD_MS);
  return retryAfterSeconds === undefined
    ? (spread * (1 + random)) / 2
    : retryAfterSeconds * 1_000 + spread * random;
}
