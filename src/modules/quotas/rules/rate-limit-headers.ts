// The rule of the rate limit headers: one function writes them for every answer there is.

import { DAY_MS, MINUTE_MS, type WindowName, type WindowStanding } from './rate-window';

const WINDOW_SECONDS: Readonly<Record<WindowName, number>> = {
  minute: MINUTE_MS / 1000,
  day: DAY_MS / 1000,
};

/**
 * `X-RateLimit-*` tell of one window, `Reset` in unix seconds; `RateLimit-Policy` and `RateLimit` tell of all, as
 * lists of structured fields after draft-ietf-httpapi-ratelimit-headers, `t` in seconds to go. All times are
 * rounded up, so that a request at the time told is never early.
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
    // A request may outlast the window it was taken from.
    state += `${separator}${name}";r=${remaining};t=${Math.max(0, Math.ceil((resetAt - now) / 1000))}`;
  }
  const told = windowToTell(standings, exhausted);
  return {
    'X-RateLimit-Limit': String(told.limit),
    'X-RateLimit-Remaining': String(told.remaining),
    'X-RateLimit-Reset': String(Math.ceil(told.resetAt / 1000)),
    'RateLimit-Policy': policy,
    RateLimit: state,
  };
}

/** The exhausted window on a refusal, else the one with the least remaining; a tie goes to the longer one. */
function windowToTell(standings: readonly WindowStanding[], exhausted: WindowName | null): WindowStanding {
  let told: WindowStanding | undefined;
  for (const standing of standings) {
    if (standing.name === exhausted) return standing;
    // Standings come shortest window first.
    if (told === undefined || standing.remaining <= told.remaining) told = standing;
  }
  if (told === undefined) throw new Error('There is no window to tell of');
  return told;
}
