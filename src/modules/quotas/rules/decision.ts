// Bans: the 11th refusal that counts within a series bans the key, each time for longer. And the decision on one request, in one
// step: first the ban, then both windows, then the refusal.
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

/** A series of refusals begins with one, and lasts this long. */
export const SERIES_MS = MINUTE_MS;
/** Refusals count from this long after the first one of a series: requests sent before had no chance to know of it. */
export const NOTICE_MS = 1_000;
export const REFUSALS_BEFORE_BAN = 11;
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

/** The last ban of a key, as the database has it. */
export interface StoredBan {
  /** The level at the end of the ban, 0 to 5; `banLevel` subtracts what has been forgiven since. */
  level: number;
  bannedUntil: number;
  /** Whether an operator started it. */
  byOperator: boolean;
  /** Increases with each change in the database. */
  changedAt: number;
}

/** The ban state of a key. Addresses are never banned. Times are unix milliseconds. */
export interface BanState extends StoredBan {
  /** Refused requests in the current series that count. */
  refusals: number;
  /** When the first request of the series was refused; 0 for none. */
  refusedSince: number;
}

export function newBanState(): BanState {
  return { level: 0, bannedUntil: 0, byOperator: false, changedAt: 0, refusals: 0, refusedSince: 0 };
}

/** Takes over what the database has, unless it is older than what is known. */
export function applyStoredBan(bans: BanState, stored: StoredBan): void {
  if (stored.changedAt > bans.changedAt) Object.assign(bans, stored);
}

export function isBanned(bans: StoredBan, now: number): boolean {
  return now < bans.bannedUntil;
}

/** The current level: bans that are not forgiven yet. */
export function banLevel(bans: StoredBan, now: number): number {
  if (bans.level === 0 || isBanned(bans, now)) return bans.level;
  return Math.max(0, bans.level - Math.floor((now - bans.bannedUntil) / FORGIVENESS_MS));
}

export function nextBanMs(bans: StoredBan, now: number): number {
  const step = Math.min(banLevel(bans, now), BAN_DURATIONS_MS.length - 1);
  return BAN_DURATIONS_MS[step] ?? 0;
}

/** Refused requests that count left, including the one that triggers the ban. */
export function refusalsBeforeBan(bans: BanState, now: number): number {
  return isInSeries(bans, now) ? REFUSALS_BEFORE_BAN - bans.refusals : REFUSALS_BEFORE_BAN;
}

/** A clock that was set back ends a series. */
function isInSeries({ refusedSince }: BanState, now: number): boolean {
  return now >= refusedSince && now < refusedSince + SERIES_MS;
}

/** Notes a refused request. @returns true if it triggers a ban */
export function countRefusal(bans: BanState, now: number): boolean {
  if (!isInSeries(bans, now)) {
    bans.refusals = 0;
    bans.refusedSince = now;
  }
  if (now >= bans.refusedSince + NOTICE_MS) bans.refusals += 1;
  if (bans.refusals < REFUSALS_BEFORE_BAN) return false;
  ban(bans, now);
  return true;
}

/** Starts a ban. An operator's ban raises the level like an earned one. */
export function ban(
  bans: BanState,
  now: number,
  { durationMs = nextBanMs(bans, now), byOperator = false } = {},
): void {
  const level = banLevel(bans, now);
  // A ban during a ban replaces it, so it does not raise the level again.
  bans.level = isBanned(bans, now) ? level : Math.min(level + 1, BAN_DURATIONS_MS.length);
  bans.bannedUntil = now + durationMs;
  bans.byOperator = byOperator;
  bans.refusals = 0;
  bans.refusedSince = 0;
}

/** Lifts an active ban and reverts its level, since it should not have happened. */
export function unban(bans: BanState, now: number): void {
  if (!isBanned(bans, now)) return;
  bans.level = Math.max(0, bans.level - 1);
  bans.bannedUntil = now;
}

export type Outcome = 'allowed' | 'limited' | 'banned';

/** What a subject has left. */
export interface Standing {
  standings: WindowStanding[];
  /** The ban state of the key; null for an address. */
  bans: Readonly<BanState> | null;
  /** During a ban, when a request will be accepted: at its end, or that of an exhausted window if it is later. Else null. */
  acceptedAt: number | null;
  /** Unix milliseconds, on the clock of the counter. */
  decidedAt: number;
}

export interface Decision extends Standing {
  outcome: Outcome;
  /** On `limited`, the exhausted window with the longest wait. */
  exhausted: WindowName | null;
  /** Whole seconds, at least 1; 0 when allowed. */
  retryAfterSeconds: number;
  /** Level of the ban that this request triggered, 1 to 5; 0 for none. */
  earnedBanLevel: number;
  /** For a refund, on the clock of the counter; -1 if nothing was taken. */
  takenAt: number;
  /** True if this instance counted the request by its share, because Redis was unavailable. */
  takenLocally?: boolean;
}

export const NOTHING_TAKEN = -1;

/** A subject's counts and bans, and the time on the clock of the counter. */
export interface SubjectState {
  windows: WindowState;
  bans: BanState | null;
  limits: Limits;
  now: number;
}

export function decide(windows: WindowState, bans: BanState | null, limits: Limits, now: number): Decision {
  const state = { windows, bans, limits, now };
  if (bans !== null && isBanned(bans, now)) return decisionAfter('banned', null, false, state);
  const exhausted = take(windows, limits, now);
  if (exhausted === null) return decisionAfter('allowed', null, false, state);
  const isNewlyBanned = bans !== null && countRefusal(bans, now);
  return isNewlyBanned
    ? decisionAfter('banned', null, true, state)
    : decisionAfter('limited', exhausted, false, state);
}

/**
 * The decision, from the state after it, whether it was made here or by the same rules in Redis.
 * @param exhausted on `limited`, the full window with the longest wait
 */
export function decisionAfter(
  outcome: Outcome,
  exhausted: WindowName | null,
  isNewlyBanned: boolean,
  state: SubjectState,
): Decision {
  const { standings: current, bans, acceptedAt, decidedAt } = standingOf(state);
  const waitEnd = acceptedAt ?? current.find(({ name }) => name === exhausted)?.resetAt;
  // Each field by name: to spread an object costs more than everything else here.
  return {
    standings: current,
    bans,
    acceptedAt,
    decidedAt,
    outcome,
    exhausted,
    retryAfterSeconds: waitEnd === undefined ? 0 : wholeSeconds(waitEnd - state.now),
    earnedBanLevel: isNewlyBanned ? state.bans!.level : 0,
    takenAt: outcome === 'allowed' ? state.now : NOTHING_TAKEN,
  };
}

export function standingOf({ windows, bans, limits, now }: SubjectState): Standing {
  const current = standings(windows, limits, now);
  const isBan = bans !== null && isBanned(bans, now);
  const ends = current.map(({ remaining, resetAt }) => (remaining === 0 ? resetAt : 0));
  return {
    standings: current,
    bans: bans && { ...bans },
    acceptedAt: isBan ? Math.max(bans.bannedUntil, ...ends) : null,
    decidedAt: now,
  };
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
 * `X-RateLimit-*` describe one window, or during a ban its end, with `Reset` in unix seconds. `RateLimit-Policy` and `RateLimit`
 * list all windows (draft-ietf-httpapi-ratelimit-headers), with `t` in seconds from now. All times are rounded up, so that a
 * request at the reported time is never early.
 */
export function rateLimitHeaders(
  { standings, acceptedAt }: Pick<Standing, 'standings' | 'acceptedAt'>,
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
  const { limit, remaining, resetAt } = reportedWindow(standings, exhausted);
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(acceptedAt === null ? remaining : 0),
    'X-RateLimit-Reset': String(Math.ceil((acceptedAt ?? resetAt) / 1000)),
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
