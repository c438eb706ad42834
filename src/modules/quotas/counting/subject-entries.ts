// Cached state of clients and keys. Objects are flat literals without spread: with 100,000 of them, objects made by spread
// are several times slower to read.
import type { BanState } from '../rules/ban-rules';
import { type WindowState, newWindowState } from '../rules/rate-window';
import type { UnwrittenCount } from './unwritten-counts';

export interface ClientEntry extends WindowState, UnwrittenCount {
  /** The client's daily count when it was loaded here. */
  usedBefore: number;
  /** The last reset applied to the windows, in unix milliseconds; 0 for none. */
  resetAt: number;
  seenAt: UnixSeconds;
}

/** Seconds fit a small integer, which V8 stores inline; milliseconds would not. */
type UnixSeconds = number;

/** Contains its client's entry, so that a request needs one lookup. */
export interface KeyEntry extends BanState {
  client: ClientEntry;
  seenAt: UnixSeconds;
}

/** @param used the client's daily count, and its last reset */
export function clientEntry(
  clientId: number,
  now: number,
  used: { requests: number; resetAt: number },
): ClientEntry {
  const { minuteStart, minuteCount, minuteRefunds, day, dayRefunds } = newWindowState(now);
  const { requests, resetAt } = used;
  return {
    minuteStart,
    minuteCount,
    minuteRefunds,
    day,
    dayCount: requests,
    // Refunds are not persisted, so their count restarts with the service.
    dayRefunds,
    unwritten: 0,
    unwrittenDay: day,
    seenAt: secondsOf(now),
    clientId,
    usedBefore: requests,
    resetAt,
  };
}

/** Applies a day that was read again. The minute is kept, unless it was reset in the meantime. */
export function takeOverDay(known: ClientEntry, read: ClientEntry): void {
  if (read.resetAt > known.resetAt) {
    const { minuteStart, minuteCount, minuteRefunds, dayRefunds } = read;
    Object.assign(known, { minuteStart, minuteCount, minuteRefunds, dayRefunds });
  }
  if (read.day !== known.day) {
    known.dayRefunds = 0;
  }
  const { day, dayCount, usedBefore, resetAt, seenAt } = read;
  Object.assign(known, { day, dayCount, usedBefore, resetAt, seenAt });
}

export function keyEntry(client: ClientEntry, bans: BanState, now: number): KeyEntry {
  const { refusals, refusedSince, refusalsUntil, level, bannedUntil, byOperator } = bans;
  return {
    client,
    refusals,
    refusedSince,
    refusalsUntil,
    level,
    bannedUntil,
    byOperator,
    seenAt: secondsOf(now),
  };
}

export function bansOf(key: KeyEntry): BanState {
  const { refusals, refusedSince, refusalsUntil, level, bannedUntil, byOperator } = key;
  return { refusals, refusedSince, refusalsUntil, level, bannedUntil, byOperator };
}

/** The absolute difference, so that setting back the clock does not keep entries indefinitely. */
export function isIdle({ seenAt }: { seenAt: UnixSeconds }, now: number, idleSeconds: number): boolean {
  return Math.abs(secondsOf(now) - seenAt) > idleSeconds;
}

export function secondsOf(milliseconds: number): UnixSeconds {
  return Math.floor(milliseconds / 1000);
}
