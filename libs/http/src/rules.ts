import type { SchemaObject } from '@nestjs/swagger';

/** The valid values of a field: as a check, in words for the caller, and as a schema for the document. */
export interface Rule {
  accepts: (value: unknown) => boolean;
  /** Describes valid values; follows "must be". */
  expected: string;
  schema: SchemaObject;
  /** Reads the value from a path or query, where everything is text; unreadable values stay as they are. */
  parse?: (text: string) => unknown;
}

/** Largest identifier: the largest integer that a JSON number carries exactly, 2^53 - 1. */
const MAX_ID = Number.MAX_SAFE_INTEGER;

/** Whole number in one canonical decimal form: no sign, no leading zero, no fraction, no exponent. */
function parseWholeNumber(text: string): unknown {
  return /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : text;
}

export const resourceId: Rule = {
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  expected: `an integer from 1 to ${MAX_ID}`,
  schema: { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_ID },
  parse: parseWholeNumber,
};

export function integer(range: { min: number; max: number }): Rule {
  return {
    accepts: (value) =>
      Number.isInteger(value) && (value as number) >= range.min && (value as number) <= range.max,
    expected: `an integer from ${range.min} to ${range.max}`,
    schema: { type: 'integer', format: 'int32', minimum: range.min, maximum: range.max },
    parse: parseWholeNumber,
  };
}

export function except(rule: Rule, forbidden: unknown, expected: string): Rule {
  const schema = { ...rule.schema, not: { enum: [forbidden] } } as SchemaObject;
  return { ...rule, accepts: (value) => value !== forbidden && rule.accepts(value), expected, schema };
}

/** Text measured in characters (Unicode code points), as JSON Schema counts them; no NUL and no unpaired surrogates. */
export function text(range: { min: number; max: number; notBlank?: boolean }): Rule {
  const { min, max, notBlank = false } = range;
  const length = min === 0 ? `at most ${max} characters` : `${min} to ${max} characters`;
  return {
    accepts: (value) =>
      typeof value === 'string' &&
      hasLength(value, min, max) &&
      isStorable(value) &&
      (!notBlank || /\S/.test(value)),
    expected: `${length}${notBlank ? ', at least one of them not white space' : ''}, without NUL or unpaired surrogates`,
    schema: {
      type: 'string',
      ...(min > 0 ? { minLength: min } : {}),
      maxLength: max,
      pattern: notBlank ? '^[^\\x00]*\\S[^\\x00]*$' : '^[^\\x00]*$',
    },
  };
}

function hasLength(value: string, min: number, max: number): boolean {
  // A string has at most as many characters as UTF-16 units, and at least half as many.
  if (value.length < min || value.length > 2 * max) {
    return false;
  }
  const length = value.length <= max ? value.length : [...value].length;
  return length <= max;
}

/** PostgreSQL stores no NUL, and an unpaired surrogate would come back as another character. */
function isStorable(value: string): boolean {
  return !value.includes('\0') && !UNPAIRED_SURROGATE.test(value);
}

const UNPAIRED_SURROGATE = /\p{Surrogate}/u;

export function oneOf(values: readonly string[]): Rule {
  return {
    accepts: (value) => typeof value === 'string' && values.includes(value),
    expected: `one of ${values.join(', ')}`,
    schema: { type: 'string', enum: [...values] },
  };
}

export const boolean: Rule = {
  accepts: (value) => typeof value === 'boolean',
  expected: 'true or false',
  schema: { type: 'boolean' },
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

const MAX_TIMESTAMP_LENGTH = 64;
const RFC_3339 =
  /^((\d{4})-(\d{2})-(\d{2}))T((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** A point in time with an offset (RFC 3339), in the years 0001 to 9999, also in UTC. */
export const timestamp: Rule = {
  accepts: (value) => typeof value === 'string' && parseTimestamp(value) !== null,
  expected:
    'a date and time with an offset as in RFC 3339, such as 2026-11-21T09:30:00Z, in the years 0001 to 9999',
  schema: { type: 'string', format: 'date-time', maxLength: MAX_TIMESTAMP_LENGTH },
};

/**
 * Reads a timestamp, to the millisecond. A leap second is the first second of the next day, as in POSIX time.
 * @returns null if the text is not a timestamp
 */
export function parseTimestamp(text: string): Date | null {
  const [, date, year, month, day, minute, second, fraction = '', zone] = RFC_3339.exec(text) ?? [];
  if (date === undefined || text.length > MAX_TIMESTAMP_LENGTH) {
    return null;
  }
  const isLeap = second === '60';
  const time = `${minute}:${isLeap ? '59' : second}${fraction.slice(0, 4)}`;
  const read = new Date(`${date}T${time}${zone!.toUpperCase()}`);
  if (isLeap && !isLastSecondOfMonth(read)) {
    return null;
  }
  const point = isLeap ? new Date(read.getTime() + 1_000) : read;
  const utcYear = point.getUTCFullYear();
  const isInRange = Number(year) >= 1 && utcYear >= 1 && utcYear <= 9999;
  return isInRange && isDay(Number(year), Number(month), Number(day)) ? point : null;
}

/** Leap seconds are added at the end of a month in UTC. */
function isLastSecondOfMonth(time: Date): boolean {
  const next = new Date(time.getTime() + 1_000);
  return next.getUTCMonth() !== time.getUTCMonth();
}

/** `Date` turns the 30th of February into a day in March instead of refusing it. */
function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
