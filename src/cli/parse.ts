import { UsageError } from './command';

/** Reads a whole number from the command line. */
export function wholeNumber(option: string, text: string, range: { min: number; max: number }): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!(value >= range.min && value <= range.max)) {
    throw new UsageError(`${option} takes a whole number from ${range.min} to ${range.max}, not "${text}".`);
  }
  return value;
}

/** Reads the id of a key. */
export function keyId(text: string): number {
  return wholeNumber('<id>', text, { min: 1, max: Number.MAX_SAFE_INTEGER });
}

/** Reads a point in time: RFC 3339, or a day of which the end (midnight UTC after it) is meant. */
export function futureInstant(option: string, text: string, now: number): Date {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const instant = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}(T.+(Z|[+-]\d{2}:\d{2}))?$/.test(text) || !exists(text.slice(0, 10), instant)) {
    throw new UsageError(
      `${option} takes a day (2027-01-31) or a time (2027-01-31T12:00:00Z), not "${text}".`,
    );
  }
  const end = day ? new Date(instant.getTime() + 86_400_000) : instant;
  if (end.getTime() <= now) {
    throw new UsageError(`${option} must be in the future, not "${text}".`);
  }
  return end;
}

/** Date makes the 3rd of March of a 31st of February. */
function exists(day: string, instant: Date): boolean {
  const midnight = new Date(day);
  return !Number.isNaN(instant.getTime()) && midnight.toISOString().startsWith(day);
}

/** Reads a client's name. */
export function clientName(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text)) {
    throw new UsageError(
      `A client's name is 1 to 100 letters, digits, dots, dashes and underscores, not "${text}".`,
    );
  }
  return text;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a length of time such as `90s`, `10m`, `2h` or `3d`, in milliseconds; `0` needs no unit. */
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
