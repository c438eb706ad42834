import { PET_STATUSES, type PetStatus } from '../../modules/pets';
import { UsageError } from './command-failure';

/** Parses a whole number. */
export function wholeNumber(option: string, text: string, range: { min: number; max: number }): number {
  return numberWithin(range, text, `${option} takes a whole number from ${range.min} to ${range.max}`);
}

/** @param rule what the message says of valid values */
function numberWithin({ min, max }: { min: number; max: number }, text: string, rule: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max)) {
    throw new UsageError(`${rule}, not "${text}".`);
  }
  return value;
}

const ID = { min: 1, max: Number.MAX_SAFE_INTEGER };

/** Parses the id of anything. */
export function identifier(option: string, text: string): number {
  return numberWithin(ID, text, `${option} takes an id, which is a whole number`);
}

/** Parses a reference to a key: its id, or the whole key. */
export function keyReference(option: string, text: string): number | string {
  return text.startsWith('psk_live_')
    ? text
    : numberWithin(ID, text, `${option} takes the id of a key, or the whole key`);
}

/** Parses a time in the future: RFC 3339, or a day, which means its end in UTC. */
export function futureInstant(option: string, text: string, now: number): Date {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const instant = calendarInstant(option, text);
  const end = day ? new Date(instant.getTime() + 86_400_000) : instant;
  if (end.getTime() <= now) {
    throw new UsageError(`${option} must be in the future, not "${text}".`);
  }
  return end;
}

/**
 * Parses a time in the past: a day (its start in UTC), a time, or a duration such as `2h` (ago).
 * @param now unix milliseconds
 */
export function pastInstant(option: string, text: string, now: number): Date {
  if (/^\d{4}-/.test(text)) {
    const instant = calendarInstant(option, text);
    if (instant.getTime() > now) {
      throw new UsageError(`${option} must not be in the future, not "${text}".`);
    }
    return instant;
  }
  if (!/^\d+[smhd]$/.test(text)) {
    throw new UsageError(
      `${option} takes a day (2026-11-01), a time (2026-11-01T12:00:00Z) or how long ago (90s, 10m, 2h, 7d), not "${text}".`,
    );
  }
  return new Date(now - duration(option, text, PAST));
}

/** Parses a day (its start in UTC) or a time with an offset. */
function calendarInstant(option: string, text: string): Date {
  const instant = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}(T.+(Z|[+-]\d{2}:\d{2}))?$/.test(text) || !exists(text.slice(0, 10), instant)) {
    throw new UsageError(
      `${option} takes a day (2027-01-31) or a time (2027-01-31T12:00:00Z), not "${text}".`,
    );
  }
  return instant;
}

/** Date turns 31 February into 3 March. */
function exists(day: string, instant: Date): boolean {
  const midnight = new Date(day);
  return !Number.isNaN(instant.getTime()) && midnight.toISOString().startsWith(day);
}

export function clientName(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text)) {
    throw new UsageError(
      `A client name is 1 to 100 letters, digits, dots, dashes and underscores, not "${text}".`,
    );
  }
  return text;
}

const PAST = { min: 1_000, max: 3_650 * 86_400_000 };
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration such as `90s`, `10m`, `2h` or `3d` to milliseconds; `0` needs no unit. */
export function duration(option: string, text: string, range: { min: number; max: number }): number {
  const [, count = '', unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  const milliseconds = count === '' ? NaN : Number(count) * UNIT_MS[unit]!;
  const hasUnit = /[smhd]$/.test(text) || text === '0';
  if (!hasUnit || !(milliseconds >= range.min && milliseconds <= range.max)) {
    const most = range.max / UNIT_MS.d!;
    throw new UsageError(`${option} takes a time such as 90s, 10m, 2h or 3d, up to ${most}d, not "${text}".`);
  }
  return milliseconds;
}

/** Parses a comma-separated list of statuses. */
export function petStatuses(text: string): PetStatus[] {
  const words = text.split(',');
  const found = PET_STATUSES.filter((status) => words.includes(status));
  if (found.length !== words.length) {
    throw new UsageError(`--status takes ${PET_STATUSES.join(', ')} or several of them, not "${text}".`);
  }
  return found;
}
