// Strikes and bans: the 11th refusal that counts before `Retry-After` has passed bans the key, each time for longer.

const MINUTE_MS = 60_000;
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
