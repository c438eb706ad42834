// This file decides whether the limits and the bans allow a request, and what the caller is told.
// The script in quota-script.ts repeats these rules for Redis. test/system/quotas/redis-counters.spec.ts fails if the two differ.
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
   * The part of these limits that this instance may allow. Present only if the instance counts alone because Redis is
   * unavailable. Refusals then do not count towards a ban, because the client may be within the limits of the plan.
   */
  share?: Limits;
  now: number;
}

/**
 * What was decided about a request, or about a refund or a read of the counts (`Step`), and the counts of the client after
 * that. Times are in unix milliseconds.
 */
export interface Decision {
  readonly outcome: Outcome;
  /** The window whose limit refused the request, or null. If both limits are reached, the window that ends last. */
  readonly exhausted: WindowName | null;
  readonly isNewlyBanned: boolean;
  /** The status of each window, the minute first. */
  readonly statuses: readonly WindowStatus[];
  readonly counted: Readonly<Windows>;
  readonly ban: Readonly<BanState> | null;
  /**
   * The number of further refusals until the ban: 1 means that the next refusal leads to a ban. Infinity if there
   * is no key, because only keys are banned.
   */
  readonly refusalsBeforeBan: number;
  /** During a ban, the time at which requests are accepted again, otherwise null. */
  readonly acceptedAt: number | null;
  readonly decidedAt: number;
  /** When the request was counted, on the clock of Redis or, if the request was counted in memory, of this process. */
  readonly takenAt: number;
  /** True if this instance counted alone because Redis was unavailable. */
  readonly isCountedAlone: boolean;
}

export type TakenRequest = Pick<Decision, 'takenAt' | 'isCountedAlone'>;

export function applyStep(state: QuotaState, step: Step): Decision {
  const { windows, ban, limits, share, now } = state;
  if (step === 'read') return decisionOf(state, { outcome: 'unchanged' });
  if (typeof step === 'object') {
    const isOfDay = refund(windows, share ?? limits, step.refund.takenAt, now).includes('day');
    return decisionOf(state, { outcome: isOfDay ? 'refunded' : 'unchanged' });
  }
  if (ban !== null && isBanned(ban, now)) return decisionOf(state, { outcome: 'banned' });
  const exhausted = take(windows, share ?? limits, now);
  if (exhausted === null) return decisionOf(state, { outcome: 'allowed' });
  const { perMinute } = limits;
  const isNewlyBanned =
    ban !== null && !share && countRefusal(ban, { perMinute, windowEnd: exhausted.resetAt, now });
  return isNewlyBanned
    ? decisionOf(state, { outcome: 'banned', isNewlyBanned })
    : decisionOf(state, { outcome: 'limited', exhausted: exhausted.name });
}

/** The result of a `Step`, without the counts after the step. */
type StepResult = Pick<Decision, 'outcome'> &
  Partial<Pick<Decision, 'exhausted' | 'isNewlyBanned' | 'takenAt'>>;

/**
 * Describes the counts and the ban after a step, and leaves both as they are. The decision has copies, because other
 * requests may change the counts and the ban before the decision is read.
 */
export function decisionOf(
  { windows, ban, limits, share, now }: QuotaState,
  { outcome, exhausted = null, isNewlyBanned = false, takenAt = now }: StepResult,
): Decision {
  const counted = copyOf(windows);
  const statuses = rollWindows(counted, share ?? limits, now);
  return {
    outcome,
    exhausted,
    isNewlyBanned,
    statuses,
    counted,
    ban: ban && { ...ban },
    refusalsBeforeBan: ban === null ? Infinity : refusalsBeforeBan(ban, { perMinute: limits.perMinute, now }),
    acceptedAt: ban !== null && isBanned(ban, now) ? endOfWait(ban, statuses) : null,
    decidedAt: now,
    takenAt,
    isCountedAlone: share !== undefined,
  };
}

function endOfWait({ bannedUntil }: BanState, statuses: readonly WindowStatus[]): number {
  const exhausted = statuses.filter(({ remaining }) => remaining === 0);
  return Math.max(bannedUntil, ...exhausted.map(({ resetAt }) => resetAt));
}

/**
 * Returns the rate limit headers: `X-RateLimit-*`, with times in unix seconds, and the headers of
 * draft-ietf-httpapi-ratelimit-headers. Times are rounded up, so that a caller who waits until such a time is not
 * refused again.
 */
export function rateLimitHeaders(
  { statuses, acceptedAt, exhausted }: Pick<Decision, 'statuses' | 'acceptedAt' | 'exhausted'>,
  now: number,
): Record<string, string> {
  let policy = '';
  let state = '';
  for (const { name, limit, remaining, resetAt } of statuses) {
    const separator = policy === '' ? '"' : ', "';
    policy += `${separator}${name}";q=${limit};w=${WINDOW_MS[name] / 1000}`;
    state += `${separator}${name}";r=${remaining};t=${Math.max(0, Math.ceil((resetAt - now) / 1000))}`;
  }
  const { limit, remaining, resetAt } = reportedWindow(statuses, exhausted);
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
function reportedWindow(statuses: readonly WindowStatus[], exhausted: WindowName | null): WindowStatus {
  return (
    statuses.find(({ name }) => name === exhausted) ??
    statuses.reduce((one, longer) => (longer.remaining <= one.remaining ? longer : one))
  );
}
