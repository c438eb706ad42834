// What is remembered of a client and of a key. Objects are flat and written out, member by member: a hundred thousand of
// them are looked at in any order, and one made by spreading others is several times slower to read.
import type { BanState } from '../rules/ban-rules';
import { type WindowState, newWindowState } from '../rules/rate-window';
import type { Uncounted } from './unwritten-counts';

export interface ClientEntry extends WindowState, Uncounted {
  /** What the client had used of the day when it was first seen here. */
  usedBefore: number;
  /** Unix milliseconds of the reset that the windows know of; 0 for none. */
  resetAt: number;
  seenAt: UnixSeconds;
}

/** A small integer needs no place of its own in memory; unix milliseconds would. */
type UnixSeconds = number;

/** A key holds its client's entry, so that a request costs one look-up. */
export interface KeyEntry extends BanState {
  client: ClientEntry;
  seenAt: UnixSeconds;
}

/** @param used what the client has used of the day, and when its windows were last reset */
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
    // Nobody writes the day's refunds down, so their number begins anew with each start of the service.
    dayRefunds,
    unwritten: 0,
    unwrittenDay: day,
    seenAt: secondsOf(now),
    clientId,
    usedBefore: requests,
    resetAt,
  };
}

/** The day as it was read again; the minute stands, unless it was reset meanwhile. */
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
  const { refusals, refusalsUntil, level, bannedUntil } = bans;
  return { client, refusals, refusalsUntil, level, bannedUntil, seenAt: secondsOf(now) };
}

export function bansOf({ refusals, refusalsUntil, level, bannedUntil }: KeyEntry): BanState {
  return { refusals, refusalsUntil, level, bannedUntil };
}

/** A clock that was set back must not keep anybody here, so the distance counts in either direction. */
export function isIdle({ seenAt }: { seenAt: UnixSeconds }, now: number, idleSeconds: number): boolean {
  return Math.abs(secondsOf(now) - seenAt) > idleSeconds;
}

export function secondsOf(milliseconds: number): UnixSeconds {
  return Math.floor(milliseconds / 1000);
}
