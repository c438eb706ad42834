const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Milliseconds to wait after the first failed attempt, after the second, and so on. If the attempt after the last delay
 * fails, too, then the delivery has failed.
 */
export const RETRY_DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
];
/** Each delay is extended at random by up to 10 %, so that deliveries that failed together are not retried all at once. */
export const JITTER = 0.1;

export const DISABLED_AFTER_MS = 5 * 24 * HOUR;

const DEFAULT_PAUSE_MS = 10 * SECOND;
const MAX_PAUSE_MS = 24 * HOUR;
const PAUSE_STATUSES = [429, 502, 503, 504];

export interface Attempt {
  status: number | null;
  error: string | null;
  retryAfter?: string;
}

/** Returns how many milliseconds a receiver asks to wait (`Retry-After`, RFC 9110, section 10.2.3), or 0. */
export function askedPauseMs({ status, retryAfter = '' }: Omit<Attempt, 'error'>, now: number): number {
  if (status === null || !PAUSE_STATUSES.includes(status)) {
    return 0;
  }
  // Accept only dates that end with GMT, as HTTP dates do, because `Date.parse` accepts many other texts.
  const date = retryAfter.endsWith(' GMT') ? Date.parse(retryAfter) : NaN;
  const wish = /^\d+$/.test(retryAfter) ? Number(retryAfter) * SECOND : date - now;
  return Number.isNaN(wish) ? DEFAULT_PAUSE_MS : Math.min(Math.max(wish, SECOND), MAX_PAUSE_MS);
}

export function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) {
    return null;
  }
  const isRedirect = status >= 300 && status < 400;
  return `The response was ${status}${isRedirect ? '; redirects are not followed' : ''}.`;
}
