// Strikes and bans: the 11th refusal that counts before `Retry-After` has passed bans the key, each time for longer.
import {
  DAY_MS,
  type Limits,
  MINUTE_MS,
  standings,
  take,
  type WindowName,
  type WindowStanding,
  type WindowState,
} from './limits';

const HOUR_MS = 3_600_000;

export const REFUSALS_BEFORE_BAN = 11;
/** Refusals count from this long after the first one: requests sent before had no chance to know of it. */
export const NOTICE_MS = 1_000;
export const BAN_DURATIONS_MS: readonly number[] = [
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  24 * HOUR_MS,
  72 * HOUR_MS,
];
/** After the end of a ban, one level is forgiven per period without a new ban. */
export const FORGIVENESS_MS = 24 * HOUR_MS;

export const BAN_LEVELS = BAN_DURATIONS_MS.map((_duration, index) => index + 1);
const HIGHEST_LEVEL = BAN_DURATIONS_MS.length;

/** The ban state of a key. Addresses are never banned. Times are unix milliseconds. */
export interface BanState {
  /** Refused requests in the current series that count. */
  refusals: number;
  /** When the first request of the series was refused; 0 for none. */
  refusedSince: number;
  /** When the announced wait of the series ends. */
  refusalsUntil: number;
  /** The level at the end of the last ban, 0 to 5; `banLevel` subtracts what has been forgiven since. */
  level: number;
  bannedUntil: number;
  /** Whether an operator started the last ban. */
  byOperator: boolean;
}

/** What outlasts a series of refusals. */
export type StoredBan = Pick<BanState, 'level' | 'bannedUntil' | 'byOperator'>;

export function newBanState(): BanState {
  return { refusals: 0, refusedSince: 0, refusalsUntil: 0, level: 0, bannedUntil: 0, byOperator: false };
}

export function isBanned(bans: BanState, now: number): boolean {
  return now < bans.bannedUntil;
}

/** The current level: bans that are not forgiven yet. */
export function banLevel(bans: BanState, now: number): number {
  if (bans.level === 0 || isBanned(bans, now)) return bans.level;
  return Math.max(0, bans.level - Math.floor((now - bans.bannedUntil) / FORGIVENESS_MS));
}

export function nextBanMs(bans: BanState, now: number): number {
  const step = Math.min(banLevel(bans, now), BAN_DURATIONS_MS.length - 1);
  return BAN_DURATIONS_MS[step] ?? 0;
}

/** Refused requests that count left, including the one that triggers the ban. */
export function refusalsBeforeBan(bans: BanState, now: number): number {
  return now < bans.refusalsUntil ? REFUSALS_BEFORE_BAN - bans.refusals : REFUSALS_BEFORE_BAN;
}

/** Notes a refused request whose window ends at `resetAt`. @returns true if it triggers a ban */
export function strike(bans: BanState, now: number, resetAt: number): boolean {
  if (now >= bans.refusalsUntil) endSeries(bans);
  // A clock that was set back starts the notice again.
  if (bans.refusedSince === 0 || now < bans.refusedSince) bans.refusedSince = now;
  if (now >= bans.refusedSince + NOTICE_MS) bans.refusals += 1;
  if (bans.refusals >= REFUSALS_BEFORE_BAN) {
    ban(bans, now);
    return true;
  }
  // The refusing window may change from day to minute, but the longer wait has been announced.
  bans.refusalsUntil = Math.max(bans.refusalsUntil, resetAt);
  return false;
}

/** An allowed request ends the series, for instance after an upgrade. */
export function endSeries(bans: BanState): void {
  if (bans.refusalsUntil === 0) return;
  bans.refusals = 0;
  bans.refusedSince = 0;
  bans.refusalsUntil = 0;
}

/** Starts a ban. An operator's ban raises the level like an earned one. */
export function ban(
  bans: BanState,
  now: number,
  { durationMs = nextBanMs(bans, now), byOperator = false } = {},
): void {
  const level = banLevel(bans, now);
  // A ban during a ban replaces it, so it does not raise the level again.
  bans.level = isBanned(bans, now) ? level : Math.min(level + 1, HIGHEST_LEVEL);
  bans.bannedUntil = now + durationMs;
  bans.byOperator = byOperator;
  endSeries(bans);
}

/** Lifts an active ban and reverts its level, since it should not have happened. */
export function unban(bans: BanState, now: number): void {
  if (!isBanned(bans, now)) return;
  bans.level = Math.max(0, bans.level - 1);
  bans.bannedUntil = now;
}

// The decision on one request, in one step: first the ban, then both windows, then the strike if it is refused. And the header
// fields that report it.
export type Outcome = 'allowed' | 'limited' | 'banned';

export interface Decision {
  outcome: Outcome;
  /** During a ban, no window has requests left before its end. */
  standings: WindowStanding[];
  /** On `limited`, the exhausted window with the longest wait. */
  exhausted: WindowName | null;
  /** Whole seconds, at least 1; 0 when allowed. */
  retryAfterSeconds: number;
  /** Refused requests left, including the one that triggers a ban; 0 when allowed, and for an address. */
  refusalsBeforeBan: number;
  /** How long the next ban would last; 0 when allowed, and for an address. */
  nextBanSeconds: number;
  /** Whether an operator started the ban; false unless banned. */
  bannedByOperator: boolean;
  /** Level of the ban that this request triggered, 1 to 5; 0 for none. */
  earnedBanLevel: number;
  /** For `refund`; -1 if nothing was taken. */
  takenAt: number;
  /** Unix milliseconds of the decision, on the clock that made it. */
  decidedAt: number;
}

export const NOTHING_TAKEN = -1;

export function decide(windows: WindowState, bans: BanState | null, limits: Limits, now: number): Decision {
  const state = { windows, bans, limits, now };
  if (bans !== null && isBanned(bans, now)) return decisionAfter('banned', null, false, state);

  const exhausted = take(windows, limits, now);
  if (exhausted === null) {
    if (bans !== null) endSeries(bans);
    return decisionAfter('allowed', null, false, state);
  }
  const resetAt = endOf(standings(windows, limits, now), exhausted);
  if (bans !== null && strike(bans, now, resetAt)) return decisionAfter('banned', null, true, state);
  return decisionAfter('limited', exhausted, false, state);
}

/**
 * The decision, from the state after it, whether it was made here or by the same rules in Redis.
 * @param exhausted on `limited`, the full window with the longest wait
 */
export function decisionAfter(
  outcome: Outcome,
  exhausted: WindowName | null,
  newlyBanned: boolean,
  state: { windows: WindowState; bans: BanState | null; limits: Limits; now: number },
): Decision {
  const { windows, bans, limits, now } = state;
  const current = standings(windows, limits, now);
  const isBan = outcome === 'banned' && bans !== null;
  const waitEnd = isBan ? bans.bannedUntil : exhausted === null ? null : endOf(current, exhausted);
  const isWarned = bans !== null && outcome !== 'allowed';
  return {
    outcome,
    standings: isBan ? closedUntil(bans.bannedUntil, current) : current,
    exhausted,
    retryAfterSeconds: waitEnd === null ? 0 : wholeSeconds(waitEnd - now),
    refusalsBeforeBan: isWarned ? refusalsBeforeBan(bans, now) : 0,
    nextBanSeconds: isWarned ? wholeSeconds(nextBanMs(bans, now)) : 0,
    bannedByOperator: isBan && bans.byOperator,
    earnedBanLevel: isBan && newlyBanned ? bans.level : 0,
    takenAt: outcome === 'allowed' ? now : NOTHING_TAKEN,
    decidedAt: now,
  };
}

function closedUntil(resetAt: number, current: WindowStanding[]): WindowStanding[] {
  return current.map(({ name, limit }) => ({ name, limit, remaining: 0, resetAt }));
}

function endOf(current: WindowStanding[], name: WindowName): number {
  for (const standing of current) if (standing.name === name) return standing.resetAt;
  throw new Error(`No standing for the ${name} window`);
}

/** Rounded up, so that waiting this long is always enough. */
function wholeSeconds(durationMs: number): number {
  return Math.max(1, Math.ceil(durationMs / 1000));
}

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
