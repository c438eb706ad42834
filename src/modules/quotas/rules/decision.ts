// Decides on a request: checks the ban of its key, then both windows, and counts a refusal. A key with too many refusals in one
// series is banned, each time for longer.
import {
  copyOf,
  type Limits,
  MINUTE_MS,
  refund,
  take,
  WINDOW_MS,
  type WindowName,
  type Windows,
  type WindowStatus,
  windowStatuses,
} from './limits';

const HOUR_MS = 3_600_000;

/** Refused requests are counted in series. A series ends after 60 seconds, or earlier with the exhausted window. */
export const SERIES_MS = MINUTE_MS;
/** Refusals in the first two seconds of a series do not count: those requests were on their way before the first 429 arrived. */
export const NOTICE_MS = 2_000;
/** Up to this many counted refusals in a series never lead to a ban, whatever the plan. */
export const ALWAYS_TOLERATED = 10;
export const BAN_DURATIONS_MS: readonly number[] = [
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  24 * HOUR_MS,
  72 * HOUR_MS,
];
/** The ban level falls by one for every 24 hours without a new ban. */
export const FORGIVENESS_MS = 24 * HOUR_MS;

export interface StoredBan {
  /** From 0 to 5: a higher level makes the next ban longer. `banLevel` subtracts the levels forgiven since this ban. */
  level: number;
  bannedUntil: number;
  byOperator: boolean;
  /** Increases with each change of the ban, so that an older copy does not replace a newer one. */
  changedAt: number;
}

/** The last ban of a key and its current series of refused requests. Times are unix milliseconds. */
export interface BanState extends StoredBan {
  refusals: number;
  seriesStart: number;
  seriesEnd: number;
}

export function newBanState(): BanState {
  const never: StoredBan = { level: 0, bannedUntil: 0, byOperator: false, changedAt: 0 };
  return { ...never, refusals: 0, seriesStart: 0, seriesEnd: 0 };
}

export function applyStoredBan(ban: BanState, stored: StoredBan): void {
  if (stored.changedAt > ban.changedAt) Object.assign(ban, stored);
}

export function isBanned(ban: StoredBan, now: number): boolean {
  return now < ban.bannedUntil;
}

/** Returns the key's ban level after subtracting one for every 24 hours since the last ban ended. */
export function banLevel(ban: StoredBan, now: number): number {
  if (ban.level === 0 || isBanned(ban, now)) return ban.level;
  return Math.max(0, ban.level - Math.floor((now - ban.bannedUntil) / FORGIVENESS_MS));
}

export function nextBanMs(ban: StoredBan, now: number): number {
  const step = Math.min(banLevel(ban, now), BAN_DURATIONS_MS.length - 1);
  return BAN_DURATIONS_MS[step] ?? 0;
}

function refusalsBeforeBan(ban: BanState, perMinute: number, now: number): number {
  const inSeries = isInSeries(ban, now) ? ban.refusals : 0;
  return Math.max(ALWAYS_TOLERATED, Math.floor(perMinute / 2)) + 1 - inSeries;
}

function isInSeries({ seriesStart, seriesEnd }: BanState, now: number): boolean {
  return now >= seriesStart && now < seriesEnd;
}

/** Counts a refused request. @param windowEnd when the exhausted window ends @returns true if the key is now banned */
export function countRefusal(ban: BanState, now: number, windowEnd: number, perMinute: number): boolean {
  if (!isInSeries(ban, now)) {
    ban.refusals = 0;
    ban.seriesStart = now;
    ban.seriesEnd = Math.min(now + SERIES_MS, windowEnd);
  }
  if (now >= ban.seriesStart + NOTICE_MS) ban.refusals += 1;
  if (refusalsBeforeBan(ban, perMinute, now) > 0) return false;
  const level = Math.min(banLevel(ban, now) + 1, BAN_DURATIONS_MS.length);
  startBan(ban, { level, bannedUntil: now + nextBanMs(ban, now), byOperator: false });
  return true;
}

/** Bans a key for an operator. This ban replaces an automatic one and does not raise the ban level. */
export function banByOperator(ban: BanState, now: number, durationMs = nextBanMs(ban, now)): void {
  startBan(ban, { level: banLevel(ban, now), bannedUntil: now + durationMs, byOperator: true });
}

function startBan(ban: BanState, started: Omit<StoredBan, 'changedAt'>): void {
  Object.assign(ban, started, { refusals: 0, seriesStart: 0, seriesEnd: 0 });
}

/** Lifts an active ban. An automatic ban also loses the level that it added, as if it had never happened. */
export function unban(ban: BanState, now: number): void {
  if (!isBanned(ban, now)) return;
  if (!ban.byOperator) ban.level = Math.max(0, ban.level - 1);
  ban.bannedUntil = now;
}

export type Step = 'take' | 'refund' | 'read';

/** The outcome is `refunded` if a refund lowered the day's count, and `unchanged` after any other refund and after a read. */
export type Outcome = 'allowed' | 'limited' | 'banned' | 'refunded' | 'unchanged';

export interface QuotaState {
  windows: Windows;
  ban: BanState | null;
  /** The limits of the plan, or this instance's share of them while Redis is unavailable. */
  limits: Limits;
  /** The plan's own limit per minute, even if `limits` is a share. */
  perMinute: number;
  /** True if `limits` is the share of one instance. Refusals then do not count towards a ban. */
  isShare?: boolean;
  now: number;
}

/** The result of a step, and the requests left afterwards. Times are unix milliseconds. */
export interface QuotaStatus {
  outcome: Outcome;
  /** If the request was refused by a limit: the exhausted window that ends last. Otherwise null. */
  exhausted: WindowName | null;
  isNewlyBanned: boolean;
  windows: WindowStatus[];
  counted: Windows;
  ban: Readonly<BanState> | null;
  /** How many more refusals lead to a ban: 1 means that the next refusal does. Infinity for an address. */
  refusalsBeforeBan: number;
  /** During a ban: when a request will be accepted again, after the ban and all exhausted windows have ended. Otherwise null. */
  acceptedAt: number | null;
  decidedAt: number;
  /** When the request was counted, on the clock of Redis, or of this process if the counts are in memory. */
  takenAt: number;
  /** True if this instance counted the request in memory because Redis was unavailable. */
  isLocal: boolean;
}

export type TakenRequest = Pick<QuotaStatus, 'takenAt' | 'isLocal'>;

export function applyStep(state: QuotaState, step: Step, takenAt: number): QuotaStatus {
  const { windows, ban, limits, perMinute, isShare, now } = state;
  if (step === 'read') return statusOf(state, 'unchanged');
  if (step === 'refund') {
    const isOfDay = refund(windows, limits, takenAt, now).includes('day');
    return statusOf(state, isOfDay ? 'refunded' : 'unchanged');
  }
  if (ban !== null && isBanned(ban, now)) return statusOf(state, 'banned');
  const exhausted = take(windows, limits, now);
  if (exhausted === null) return statusOf(state, 'allowed');
  const isNewlyBanned = ban !== null && !isShare && countRefusal(ban, now, exhausted.resetAt, perMinute);
  return isNewlyBanned ? statusOf(state, 'banned', null, true) : statusOf(state, 'limited', exhausted.name);
}

/** Returns the status after a step, with copies of the counts, which other requests may change before the status is used. */
export function statusOf(
  { windows: counted, ban, limits, perMinute, now }: QuotaState,
  outcome: Outcome,
  exhausted: WindowName | null = null,
  isNewlyBanned = false,
): QuotaStatus {
  const windows = windowStatuses(counted, limits, now);
  return {
    outcome,
    exhausted,
    isNewlyBanned,
    windows,
    counted: copyOf(counted),
    ban: ban && { ...ban },
    refusalsBeforeBan: ban === null ? Infinity : refusalsBeforeBan(ban, perMinute, now),
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
 * Returns the rate limit headers of a response. `X-RateLimit-*` describe one window, or the end of a ban, with `Reset` in unix
 * seconds. `RateLimit-Policy` and `RateLimit` list all windows, with `t` in seconds from now (draft-ietf-httpapi-ratelimit-headers).
 * Times are rounded up, so that a request at the reported time is never too early.
 */
export function rateLimitHeaders(
  { windows, acceptedAt, exhausted }: Pick<QuotaStatus, 'windows' | 'acceptedAt' | 'exhausted'>,
  now: number,
): Record<string, string> {
  let policy = '';
  let state = '';
  for (const { name, limit, remaining, resetAt } of windows) {
    const separator = policy === '' ? '"' : ', "';
    policy += `${separator}${name}";q=${limit};w=${WINDOW_MS[name] / 1000}`;
    // A window may have ended while the request ran: `t` is then 0 instead of negative.
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

/** Returns the window that `X-RateLimit-*` describe: the exhausted window, else the one with the fewest requests left. */
function reportedWindow(windows: readonly WindowStatus[], exhausted: WindowName | null): WindowStatus {
  return (
    windows.find(({ name }) => name === exhausted) ??
    windows.reduce((one, longer) => (longer.remaining <= one.remaining ? longer : one))
  );
}
