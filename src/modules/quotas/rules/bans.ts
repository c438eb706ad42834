// A key that sends too many requests after a 429 is banned, each time for longer.
// The script in quota-script.ts repeats these rules for Redis. test/system/quotas/redis-counters.spec.ts fails if the two differ.
import type { StoredBan } from '../../auth';
import { MINUTE_MS } from './limits';

const HOUR_MS = 3_600_000;

/**
 * A series of refusals begins with a refusal and lasts this long, or until the exceeded limit resets if that is sooner.
 * A key is banned for too many refusals in one series.
 */
export const SERIES_MS = MINUTE_MS;
/**
 * For this many milliseconds after the first refusal of a series, refusals do not count towards a ban, because the
 * client may have sent the refused requests before the first 429 arrived.
 */
export const NOTICE_MS = 2_000;
/**
 * On every plan, a key is banned only if more than this many of its requests are refused with 429 in one series
 * (`SERIES_MS`).
 */
export const ALWAYS_TOLERATED = 10;
export const BAN_DURATIONS_MS: readonly number[] = [
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  24 * HOUR_MS,
  72 * HOUR_MS,
];
export const FORGIVENESS_MS = 24 * HOUR_MS;

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

interface Refusal {
  /** The plan's limit per minute. */
  perMinute: number;
  /** When the exceeded limit resets. */
  windowEnd: number;
  now: number;
}

export function refusalsBeforeBan(ban: BanState, { perMinute, now }: Omit<Refusal, 'windowEnd'>): number {
  const inSeries = isInSeries(ban, now) ? ban.refusals : 0;
  return Math.max(ALWAYS_TOLERATED, Math.floor(perMinute / 2)) + 1 - inSeries;
}

function isInSeries({ seriesStart, seriesEnd }: BanState, now: number): boolean {
  return now >= seriesStart && now < seriesEnd;
}

/** Counts a refusal. Returns true if the key is now banned. */
export function countRefusal(ban: BanState, { perMinute, windowEnd, now }: Refusal): boolean {
  if (!isInSeries(ban, now)) {
    ban.refusals = 0;
    ban.seriesStart = now;
    ban.seriesEnd = Math.min(now + SERIES_MS, windowEnd);
  }
  if (now >= ban.seriesStart + NOTICE_MS) ban.refusals += 1;
  if (refusalsBeforeBan(ban, { perMinute, now }) > 0) return false;
  const level = Math.min(banLevel(ban, now) + 1, BAN_DURATIONS_MS.length);
  const started = { level, bannedUntil: now + nextBanMs(ban, now), byOperator: false };
  Object.assign(ban, started, { refusals: 0, seriesStart: 0, seriesEnd: 0 });
  return true;
}

/** Bans a key on behalf of an operator. The new ban replaces a current ban and does not raise the ban level. */
export function banByOperator(ban: StoredBan, now: number, durationMs = nextBanMs(ban, now)): void {
  Object.assign(ban, { level: banLevel(ban, now), bannedUntil: now + durationMs, byOperator: true });
}

/**
 * Lifts the current ban, if there is one. If the ban was automatic, lowers the ban level by one, because the ban had
 * raised the level.
 */
export function unban(ban: StoredBan, now: number): void {
  if (!isBanned(ban, now)) return;
  if (!ban.byOperator) ban.level = Math.max(0, ban.level - 1);
  ban.bannedUntil = now;
}
