// The rules for refusals and bans: a key that sends too many requests after a 429 is banned, each time for longer.
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
  rollWindows,
} from './limits';

const HOUR_MS = 3_600_000;

/** Refusals within this time form one series. A key is banned for too many refusals in one series. */
export const SERIES_MS = MINUTE_MS;
/**
 * Refusals in this time do not count, because the client may have sent those requests before it received the first 429.
 */
export const NOTICE_MS = 2_000;
/** On every plan, a key is banned only after more than this many refused requests (429) in one series. */
export const ALWAYS_TOLERATED = 10;
export const BAN_DURATIONS_MS: readonly number[] = [
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  24 * HOUR_MS,
  72 * HOUR_MS,
];
export const FORGIVENESS_MS = 24 * HOUR_MS;

export interface StoredBan {
  /**
   * Level right after the last ban, from 0 to 5: a higher level makes the next ban longer. `banLevel` returns the
   * present level.
   */
  level: number;
  bannedUntil: number;
  byOperator: boolean;
  /** The time of the ban's last change. The later time belongs to the newer copy of the ban. */
  changedAt: number;
}

/** The last ban of a key and its current series of refusals. Times are in unix milliseconds. */
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

/** Returns the ban level, which is one lower for each full 24 hours since the last ban ended. */
export function banLevel(ban: StoredBan, now: number): number {
  if (ban.level === 0 || isBanned(ban, now)) return ban.level;
  return Math.max(0, ban.level - Math.floor((now - ban.bannedUntil) / FORGIVENESS_MS));
}

export function nextBanMs(ban: StoredBan, now: number): number {
  const index = Math.min(banLevel(ban, now), BAN_DURATIONS_MS.length - 1);
  return BAN_DURATIONS_MS[index] ?? 0;
}

function refusalsBeforeBan(ban: BanState, perMinute: number, now: number): number {
  const inSeries = isInSeries(ban, now) ? ban.refusals : 0;
  return Math.max(ALWAYS_TOLERATED, Math.floor(perMinute / 2)) + 1 - inSeries;
}

function isInSeries({ seriesStart, seriesEnd }: BanState, now: number): boolean {
  return now >= seriesStart && now < seriesEnd;
}

/** Counts a refusal. @param windowEnd when the exceeded limit resets @returns true if the key is now banned */
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

/** Bans a key on behalf of an operator. The new ban replaces a current ban and does not raise the ban level. */
export function banByOperator(ban: BanState, now: number, durationMs = nextBanMs(ban, now)): void {
  startBan(ban, { level: banLevel(ban, now), bannedUntil: now + durationMs, byOperator: true });
}

function startBan(ban: BanState, started: Omit<StoredBan, 'changedAt'>): void {
  Object.assign(ban, started, { refusals: 0, seriesStart: 0, seriesEnd: 0 });
}

/** Lifts the current ban, if there is one. If the ban was automatic, the ban level is lowered again. */
export function unban(ban: BanState, now: number): void {
  if (!isBanned(ban, now)) return;
  if (!ban.byOperator) ban.level = Math.max(0, ban.level - 1);
  ban.bannedUntil = now;
}

export type Step = 'take' | 'refund' | 'read';

export type Outcome = 'allowed' | 'limited' | 'banned' | 'refunded' | 'unchanged';

export interface QuotaState {
  windows: Windows;
  ban: BanState | null;
  /** The limits of the plan or, while Redis is unavailable, the part of these limits that this instance may allow. */
  limits: Limits;
  /** The plan's full limit per minute. It determines how many refusals lead to a ban. */
  perMinute: number;
  /** True if `limits` is only a part of the plan's limits. Refusals then do not count towards a ban. */
  isShare?: boolean;
  now: number;
}

/** The decision on a request, with the counts after it. Times are in unix milliseconds. */
export interface QuotaStatus {
  outcome: Outcome;
  /** The window whose limit refused the request, or null. If both limits are reached, the window that ends last. */
  exhausted: WindowName | null;
  isNewlyBanned: boolean;
  windows: WindowStatus[];
  counted: Windows;
  ban: Readonly<BanState> | null;
  /**
   * The number of further refusals until the ban: 1 means that the next refusal leads to a ban. Infinity for a
   * caller without a key, because only keys are banned.
   */
  refusalsBeforeBan: number;
  /** During a ban, the time at which requests are accepted again, otherwise null. */
  acceptedAt: number | null;
  decidedAt: number;
  /** When the request was counted, on the clock of Redis or, if the request was counted in memory, of this process. */
  takenAt: number;
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

/** Copies the counts and the ban, because other requests may change them before the caller reads the status. */
export function statusOf(
  { windows: counted, ban, limits, perMinute, now }: QuotaState,
  outcome: Outcome,
  exhausted: WindowName | null = null,
  isNewlyBanned = false,
): QuotaStatus {
  const windows = rollWindows(counted, limits, now);
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
 * Returns the rate limit headers: `X-RateLimit-*` in unix seconds, and those of draft-ietf-httpapi-ratelimit-headers.
 * Times are rounded up, so that a caller who waits until then is not refused again.
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

/** Returns the window for the `X-RateLimit-*` headers: the exhausted one, or else the one with the fewest requests left. */
function reportedWindow(windows: readonly WindowStatus[], exhausted: WindowName | null): WindowStatus {
  return (
    windows.find(({ name }) => name === exhausted) ??
    windows.reduce((one, longer) => (longer.remaining <= one.remaining ? longer : one))
  );
}
