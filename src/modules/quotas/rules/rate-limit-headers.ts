// The rate limit headers of every response.

import { DAY_MS, MINUTE_MS, type WindowName, type WindowStanding } from './rate-window';

const WINDOW_SECONDS: Readonly<Record<WindowName, number>> = {
  minute: MINUTE_MS / 1000,
  day: DAY_MS / 1000,
};

/**
 * `X-RateLimit-*` describe one window, with `Reset` in unix seconds. `RateLimit-Policy` and `RateLimit` list all windows
 * (draft-ietf-httpapi-ratelimit-headers), with `t` in seconds from now. All times are rounded up, so that a request at the
 * reported time is never early.
 */
export function rateLimitHeaders(
  standings: readonly WindowStanding[],
  now: number,
  exhausted: WindowName | null,
): Record<string, string> {
  let policy = '';
  let state = '';
  for (const { name, limit, remaining, resetAt } of standings) {
    const separator = policy === '' ? '"' : ', "';
    policy += `${separator}${name}";q=${limit};w=${WINDOW_SECONDS[name]}`;
    // The window may have ended while the request ran.
    state += `${separator}${name}";r=${remaining};t=${Math.max(0, Math.ceil((resetAt - now) / 1000))}`;
  }
  const reported = reportedWindow(standings, exhausted);
  return {
    'X-RateLimit-Limit': String(reported.limit),
    'X-RateLimit-Remaining': String(reported.remaining),
    'X-RateLimit-Reset': String(Math.ceil(reported.resetAt / 1000)),
    'RateLimit-Policy': policy,
    RateLimit: state,
  };
}

/** The exhausted window on a refusal, else the one with the least remaining; a tie goes to the longer one. */
function reportedWindow(standings: readonly WindowStanding[], exhausted: WindowName | null): WindowStanding {
  let reported: WindowStanding | undefined;
  for (const standing of standings) {
    if (standing.name === exhausted) return standing;
    // Standings come shortest window first.
    if (reported === undefined || standing.remaining <= reported.remaining) reported = standing;
  }
  if (reported === undefined) throw new Error('There is no window to report');
  return reported;
}
