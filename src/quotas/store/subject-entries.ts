// What is remembered of a client and of a key. Objects are flat and written out, member by member: a hundred thousand of
// them are looked at in any order, and one made by spreading others is several times slower to read.
import type { BanState } from '../ban-rules';
import { type WindowState, newWindowState } from '../rate-window';
import type { Uncounted } from './unwritten-counts';

export interface ClientEntry extends WindowState, Uncounted {
  /** The day on which the client was first seen here, and what it had used of it by then. */
  firstDay: number;
  usedBefore: number;
  /** Unix milliseconds of the reset that the windows know of; 0 for none. */
  resetAt: number;
  /** Unix seconds: a small integer needs no place of its own, and unix milliseconds would. */
  seenAt: number;
  /** No longer here: whoever still holds this entry has to look for another one. */
  forgotten: boolean;
  /** When, among the doubts of the memory, the day was read. */
  generation: number;
}

/** A key holds its client's entry, so that a request costs one look-up. */
export interface KeyEntry extends BanState {
  client: ClientEntry;
  generation: number;
  /** Unix seconds. */
  seenAt: number;
}

/** @param used what the client has used of the day, and when its windows were last reset */
export function clientEntry(
  clientId: number,
  now: number,
  generation: number,
  used: { requests: number; resetAt: number },
): ClientEntry {
  const { minuteStart, minuteCount, day } = newWindowState(now);
  const { requests, resetAt } = used;
  return {
    minuteStart,
    minuteCount,
    day,
    dayCount: requests,
    unwritten: 0,
    unwrittenDay: day,
    seenAt: secondsOf(now),
    forgotten: false,
    generation,
    clientId,
    firstDay: day,
    usedBefore: requests,
    resetAt,
  };
}

/** The day as it was read again; the minute stands, unless it was reset meanwhile. */
export function takeOverDay(known: ClientEntry, read: ClientEntry): void {
  const { day, dayCount, firstDay, usedBefore, resetAt, generation } = read;
  if (resetAt > known.resetAt) {
    Object.assign(known, { minuteStart: read.minuteStart, minuteCount: read.minuteCount });
  }
  Object.assign(known, { day, dayCount, firstDay, usedBefore, resetAt, generation });
}

export function keyEntry(client: ClientEntry, bans: BanState, now: number, generation: number): KeyEntry {
  const { refusals, refusalsUntil, level, bannedUntil } = bans;
  return { client, generation, refusals, refusalsUntil, level, bannedUntil, seenAt: secondsOf(now) };
}

export function bansOf({ refusals, refusalsUntil, level, bannedUntil }: KeyEntry): BanState {
  return { refusals, refusalsUntil, level, bannedUntil };
}

export function secondsOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
