// The rule of strikes and bans: the 11th refused request before Retry-After has passed bans, each time for longer.

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export const REFUSALS_BEFORE_BAN = 11;
export const BAN_DURATIONS_MS: readonly number[] = [
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  24 * HOUR_MS,
  72 * HOUR_MS,
];
/** One level is forgiven for each of these that passes after a ban's end without a new ban. */
export const FORGIVENESS_MS = 24 * HOUR_MS;

const HIGHEST_LEVEL = BAN_DURATIONS_MS.length;

/** A key's record; an address without a key has none, for it is never banned. Times are unix milliseconds. */
export interface BanState {
  /** Refused requests in the running series. */
  refusals: number;
  /** When the wait announced to the series ends. */
  refusalsUntil: number;
  /** Bans not forgiven by the end of the last one, 0 to 5; `banLevel` tells what is left of them now. */
  level: number;
  bannedUntil: number;
}

export function newBanState(): BanState {
  return { refusals: 0, refusalsUntil: 0, level: 0, bannedUntil: 0 };
}

export function isBanned(bans: BanState, now: number): boolean {
  return now < bans.bannedUntil;
}

/** Bans behind the key that are not forgiven yet. */
export function banLevel(bans: BanState, now: number): number {
  if (bans.level === 0 || isBanned(bans, now)) return bans.level;
  return Math.max(0, bans.level - Math.floor((now - bans.bannedUntil) / FORGIVENESS_MS));
}

export function nextBanMs(bans: BanState, now: number): number {
  const step = Math.min(banLevel(bans, now), BAN_DURATIONS_MS.length - 1);
  return BAN_DURATIONS_MS[step] ?? 0;
}

/** How many more refused requests there are up to and including the one that bans. */
export function refusalsBeforeBan(bans: BanState, now: number): number {
  return now < bans.refusalsUntil ? REFUSALS_BEFORE_BAN - bans.refusals : REFUSALS_BEFORE_BAN;
}

/** Counts a refused request whose window ends at `resetAt`; true when it is the one that bans. */
export function strike(bans: BanState, now: number, resetAt: number): boolean {
  if (now >= bans.refusalsUntil) endSeries(bans);
  bans.refusals += 1;
  if (bans.refusals >= REFUSALS_BEFORE_BAN) {
    ban(bans, now);
    return true;
  }
  // The window that refuses may change from the day to the minute; the longer wait was announced all the same.
  bans.refusalsUntil = Math.max(bans.refusalsUntil, resetAt);
  return false;
}

/** An allowed request ends the series: whoever is let in again, by an upgrade for one, has nothing to wait for. */
export function endSeries(bans: BanState): void {
  if (bans.refusals === 0) return;
  bans.refusals = 0;
  bans.refusalsUntil = 0;
}

/** Bans from now on. By hand (with a duration of the operator's choice) it counts as a ban like any other. */
export function ban(bans: BanState, now: number, durationMs: number = nextBanMs(bans, now)): void {
  const level = banLevel(bans, now);
  // A second ban during a running one replaces it, so it must not be charged as a further level.
  bans.level = isBanned(bans, now) ? level : Math.min(level + 1, HIGHEST_LEVEL);
  bans.bannedUntil = now + durationMs;
  endSeries(bans);
}

/** Lifts a running ban and takes back its level, for it is lifted because it should not have been; else does nothing. */
export function unban(bans: BanState, now: number): void {
  if (!isBanned(bans, now)) return;
  bans.level = Math.max(0, bans.level - 1);
  bans.bannedUntil = now;
}
