// Which failures are worth another attempt, and how long to wait before it. Nothing here knows of time or the network.

/** What of a failed attempt decides whether there is another one. */
export interface Failure {
  code: string;
  /** The HTTP status; 0 when there was no answer. */
  status: number;
}

const FIRST_SPREAD_MS = 500;
const MOST_SPREAD_MS = 10_000;

/** Methods of which doing twice is doing once (RFC 9110, section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/**
 * Whether a request may be sent again although nobody knows what became of it.
 * @param method in capitals
 */
export function isRepeatable(method: string, hasIdempotencyKey: boolean): boolean {
  return IDEMPOTENT.has(method) || (method === 'POST' && hasIdempotencyKey);
}

/**
 * Whether the failure may be gone at another attempt. A ban is not: waiting for its end is not for a program to decide.
 * @param repeatable what `isRepeatable` says of the request
 */
export function isWorthRepeating({ code, status }: Failure, repeatable: boolean): boolean {
  switch (status) {
    case 429:
      // Nothing was done, whatever the method.
      return true;
    case 409:
      // An attempt whose answer got lost still runs; its answer is kept and will be given.
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
 * How long to wait before the next attempt: what the service asks for, and never less, with a spread behind it that doubles
 * with each attempt, so that callers who were refused together do not come back together. Without `Retry-After`, half of
 * the spread is waited for certain.
 * @param attempt the attempt that failed, from 1
 * @param random from 0 to below 1
 * @returns milliseconds
 */
export function waitBeforeNext(
  retryAfterSeconds: number | undefined,
  attempt: number,
  random: number,
): number {
  const spread = Math.min(FIRST_SPREAD_MS * 2 ** (attempt - 1), MOST_SPREAD_MS);
  return retryAfterSeconds === undefined
    ? (spread * (1 + random)) / 2
    : retryAfterSeconds * 1_000 + spread * random;
}
