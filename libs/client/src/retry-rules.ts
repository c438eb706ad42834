// Which failures are worth another attempt, and how long to wait before it. Pure: no time and no network.

/** The parts of a failed attempt that decide about another one. */
export interface Failure {
  code: string;
  /** The HTTP status; 0 without a response. */
  status: number;
}

const FIRST_SPREAD_MS = 500;
const MAX_SPREAD_MS = 10_000;

/** Methods whose repetition has no further effect (RFC 9110, section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/**
 * Whether a request may be repeated although its outcome is unknown.
 * @param method in capitals
 */
export function isRepeatable(method: string, hasIdempotencyKey: boolean): boolean {
  return IDEMPOTENT.has(method) || (method === 'POST' && hasIdempotencyKey);
}

/**
 * Whether another attempt may succeed. Not during a ban: a program should not decide to wait for its end.
 * @param repeatable the result of `isRepeatable` for the request
 */
export function isWorthRepeating({ code, status }: Failure, repeatable: boolean): boolean {
  switch (status) {
    case 429:
      // The service did nothing, whatever the method.
      return true;
    case 409:
      // An attempt whose response was lost is still running; its response is stored and will be returned.
      return code === 'idempotency_in_progress';
    case 0:
      return repeatable && code === 'no_answer';
    case 502:
    case 503:
    case 504:
      return repeatable;
    default:
      return false;
  }
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
