// Bans: a key whose refusals in one series exceed half of its plan's minute is banned, each time for longer. And the decision on
// one request, in one step: first the ban, then both windows, then the refusal.
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

/** A series of refusals begins with one, and ends after this long, or with the window that refused if that is earlier. */
export const SERIES_MS = MINUTE_MS;
/** Refusals count from this long after the first one of a series: requests sent before had no chance to know of it. */
export const NOTICE_MS = 2_000;
/** Refusals that count in a series and ban nobody, whatever the plan. */
export const ALWAYS_TOLERATED = 10;
export const BAN_DURATIONS_MS: readonly number[] = [
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  24 * HOUR_MS,
  72 * HOUR_MS,
];
/** After the end of a ban, one level is forgiven per period without a new ban. */
export const FORGIVENESS_MS = 24 * HOUR_MS;

/** The last ban of a key, as the database has it. */
export interface StoredBan {
  /** The level at the end of the ban, 0 to 5; `banLevel` subtracts what has been forgiven since. */
  level: number;
  bannedUntil: number;
  byOperator: boolean;
  /** Increases with each change in the database. */
  changedAt: number;
}

/** The ban state of a key. Addresses are never banned. Times are unix milliseconds. */
export interface BanState extends StoredBan {
  /** Refused requests in the current series that count. */
  refusals: number;
  /** When the first request of the series was refused; 0 for none. */
  seriesStart: number;
  seriesEnd: number;
}

export function newBanState(): BanState {
  const never: StoredBan = { level: 0, bannedUntil: 0, byOperator: false, changedAt: 0 };
  return { ...never, refusals: 0, seriesStart: 0, seriesEnd: 0 };
}

/** Takes over what the database has, unless it is older than what is known. */
export function applyStoredBan(ban: BanState, stored: StoredBan): void {
  if (stored.changedAt > ban.changedAt) Object.assign(ban, stored);
}

export function isBanned(ban: StoredBan, now: number): boolean {
  return now < ban.bannedUntil;
}

/** The current level: bans that are not forgiven yet. */
export function banLevel(ban: StoredBan, now: number): number {
  if (ban.level === 0 || isBanned(ban, now)) return ban.level;
  return Math.max(0, ban.level - Math.floor((now - ban.bannedUntil) / FORGIVENESS_MS));
}

export function nextBanMs(ban: StoredBan, now: number): number {
  const step = Math.min(banLevel(ban, now), BAN_DURATIONS_MS.length - 1);
  return BAN_DURATIONS_MS[step] ?? 0;
}

/** Refused requests that count left, including the one that triggers the ban. @param perMinute what the plan allows */
function refusalsBeforeBan(ban: BanState, perMinute: number, now: number): number {
  const inSeries = isInSeries(ban, now) ? ban.refusals : 0;
  return Math.max(ALWAYS_TOLERATED, Math.floor(perMinute / 2)) + 1 - inSeries;
}

/** A clock that was set back ends a series. */
function isInSeries({ seriesStart, seriesEnd }: BanState, now: number): boolean {
  return now >= seriesStart && now < seriesEnd;
}

/** Notes a refused request. @param windowEnd of the window that refused it @returns true if it triggers a ban */
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

/** An operator's ban replaces any other, and uses up no level. */
export function banByOperator(ban: BanState, now: number, durationMs = nextBanMs(ban, now)): void {
  startBan(ban, { level: banLevel(ban, now), bannedUntil: now + durationMs, byOperator: true });
}

function startBan(ban: BanState, started: Omit<StoredBan, 'changedAt'>): void {
  Object.assign(ban, started, { refusals: 0, seriesStart: 0, seriesEnd: 0 });
}

/** Lifts an active ban and reverts the level that it used up, since it should not have happened. */
export function unban(ban: BanState, now: number): void {
  if (!isBanned(ban, now)) return;
  if (!ban.byOperator) ban.level = Math.max(0, ban.level - 1);
  ban.bannedUntil = now;
}

/** What a store does: take one request, refund it, or only read. */
export type Step = 'take' | 'refund' | 'read';

/** `refunded` if the count of the day is lower now; `unchanged` after any other refund, and after a read. */
export type Outcome = 'allowed' | 'limited' | 'banned' | 'refunded' | 'unchanged';

/** The counts of a client or an address, and the bans of a key. */
export interface QuotaState {
  windows: Windows;
  /** Null for an address. */
  ban: BanState | null;
  /** What is allowed here: the plan, or this instance's share of it. */
  limits: Limits;
  /** What the plan allows in a minute. */
  perMinute: number;
  /** True if the limits are the share of an instance that counts alone: a refusal then counts towards no ban. */
  isShare?: boolean;
  now: number;
}

/** What a client or an address has left after a step, and what the step has done. */
export interface QuotaStatus {
  outcome: Outcome;
  /** On `limited`, the exhausted window with the longest wait. */
  exhausted: WindowName | null;
  isNewlyBanned: boolean;
  windows: WindowStatus[];
  /** What the windows have counted. */
  counted: Windows;
  /** The ban state of the key; null for an address. */
  ban: Readonly<BanState> | null;
  /** Refused requests that count left, including the one that triggers the ban; Infinity for an address. */
  refusalsBeforeBan: number;
  /** During a ban, when a request will be accepted: at its end, or that of an exhausted window if it is later. Else null. */
  acceptedAt: number | null;
  /** Unix milliseconds. */
  decidedAt: number;
  /** For a refund: when the request was taken, on the clock of the store, and whether by this instance alone. */
  takenAt: number;
  isLocal: boolean;
}

/** What a refund needs to know of a request that was taken. */
export type TakenRequest = Pick<QuotaStatus, 'takenAt' | 'isLocal'>;

/** Changes the state in one step: first the ban is checked, then both windows, then a refusal is counted. */
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

/** The status that a step has led to. With copies, because others may change the state before it is read. */
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
 * `X-RateLimit-*` describe one window, or during a ban its end, with `Reset` in unix seconds. `RateLimit-Policy` and `RateLimit`
 * list all windows (draft-ietf-httpapi-ratelimit-headers), with `t` in seconds from now. All times are rounded up, so that a
 * request at the reported time is never early.
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
    // The window may have ended while the request ran.
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

/** The exhausted window on a refusal, else the one with the least remaining; a tie goes to the longer one, which comes last. */
function reportedWindow(windows: readonly WindowStatus[], exhausted: WindowName | null): WindowStatus {
  return (
    windows.find(({ name }) => name === exhausted) ??
    windows.reduce((one, longer) => (longer.remaining <= one.remaining ? longer : one))
  );
}
