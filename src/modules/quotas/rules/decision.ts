// This file decides whether the limits and the bans allow a request, and what the caller is told.
import { type BanState, countRefusal, isBanned, refusalsBeforeBan } from './bans';
import { copyOf, type Limits, refund, rollWindows, take, WINDOW_MS } from './limits';
import type { WindowName, Windows, WindowStatus } from './limits';

/**
 * What to do with the counts of a client or an address: count a request, refund a counted request, or only read the counts.
 */
export type Step = 'take' | 'read' | { refund: TakenRequest };

export type Outcome = 'allowed' | 'limited' | 'banned' | 'refunded' | 'unchanged';

export interface QuotaState {
  windows: Windows;
  ban: BanState | null;
  /** The limits of the plan. The limit per minute also determines how many refusals lead to a ban. */
  limits: Limits;
  /**
   * The part of these limits that this instance may allow while Redis is unavailable. Refusals then do not count towards
   * a ban, because the client may be within the limits of the plan.
   */
  share?: Limits;
  now: number;
}

/** The result of a `Step`, with the counts after this step. Times are in unix milliseconds. */
export interface Decision {
  outcome: Outcome;
  /** The window whose limit refused the request, or null. If both limits are reached, the window that ends last. */
  exhausted: WindowName | null;
  isNewlyBanned: boolean;
  windows: WindowStatus[];
  counted: Windows;
  ban: Readonly<BanState> | null;
  /**
   * The number of further refusals until the ban: 1 means that the next refusal leads to a ban. Infinity if there
   * is no key, because only keys are banned.
   */
  refusalsBeforeBan: number;
  /** During a ban, the time at which requests are accepted again, otherwise null. */
  acceptedAt: number | null;
  decidedAt: number;
  /** When the request was counted, on the clock of Redis or, if the request was counted in memory, of this process. */
  takenAt: number;
  isLocal: boolean;
}

export type TakenRequest = Pick<Decision, 'takenAt' | 'isLocal'>;

export function applyStep(state: QuotaState, step: Step): Decision {
  const { windows, ban, limits, share, now } = state;
  if (step === 'read') return decisionOf(state, 'unchanged');
  if (typeof step === 'object') {
    const isOfDay = refund(windows, share ?? limits, step.refund.takenAt, now).includes('day');
    return decisionOf(state, isOfDay ? 'refunded' : 'unchanged');
  }
  if (ban !== null && isBanned(ban, now)) return decisionOf(state, 'banned');
  const exhausted = take(windows, share ?? limits, now);
  if (exhausted === null) return decisionOf(state, 'allowed');
  const { perMinute } = limits;
  const isNewlyBanned =
    ban !== null && !share && countRefusal(ban, { perMinute, windowEnd: exhausted.resetAt, now });
  return isNewlyBanned
    ? decisionOf(state, 'banned', null, true)
    : decisionOf(state, 'limited', exhausted.name);
}

/**
 * Describes the counts and the ban, and leaves both as they are. The decision has copies, because other requests may
 * change the counts and the ban before the decision is read.
 */
export function decisionOf(
  { windows: current, ban, limits, share, now }: QuotaState,
  outcome: Outcome,
  exhausted: WindowName | null = null,
  isNewlyBanned = false,
): Decision {
  const counted = copyOf(current);
  const windows = rollWindows(counted, share ?? limits, now);
  return {
    outcome,
    exhausted,
    isNewlyBanned,
    windows,
    counted,
    ban: ban && { ...ban },
    refusalsBeforeBan: ban === null ? Infinity : refusalsBeforeBan(ban, { perMinute: limits.perMinute, now }),
    acceptedAt: ban !== null && isBanned(ban, now) ? endOfWait(ban, windows) : null,
    decidedAt: now,
    takenAt: now,
    isLocal: false,
  };
}

function endOfWait({ bannedUntil }: BanState, windows: WindowStatus[]): number {
  const exhausted = windows.filter(({ remaining }) => remaining === 0);
  return Math.max(bannedUntil, ...exhausted.map(({ resetAt }) => resetAt));
}

/**
 * Returns the rate limit headers: `X-RateLimit-*`, with times in unix seconds, and the headers of
 * draft-ietf-httpapi-ratelimit-headers. Times are rounded up, so that a caller who waits until such a time is not
 * refused again.
 */
export function rateLimitHeaders(
  { windows, acceptedAt, exhausted }: Pick<Decision, 'windows' | 'acceptedAt' | 'exhausted'>,
  now: number,
): Record<string, string> {
  let policy = '';
  let state = '';
  for (const { name, limit, remaining, resetAt } of windows) {
    const separator = policy === '' ? '"' : ', "';
    policy += `${separator}${name}";q=${limit};w=${WINDOW_MS[name] / 1000}`;
    state += `${separator}${name}";r=${remaining};t=${Math.max(0, Math.ceil((resetAt - now) / 1000))}`;
  }
  const { limit, remaining, resetAt } = reportedWindow(windows, exhausted);
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(acceptedAt === null ? remaining : 0),
    'X-RateLimit-Reset': String(Math.ceil((acceptedAt ?? resetAt) / 1000)),
    'RateLimit-Policy': policy,
    RateLimit: state,
  };
}

/**
 * Returns the window for the `X-RateLimit-*` headers: the window whose limit refused the request or, if no limit did,
 * the window with the fewest requests left.
 */
function reportedWindow(windows: readonly WindowStatus[], exhausted: WindowName | null): WindowStatus {
  return (
    windows.find(({ name }) => name === exhausted) ??
    windows.reduce((one, longer) => (longer.remaining <= one.remaining ? longer : one))
  );
}
