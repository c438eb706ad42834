// The options of commands, and how their texts are read.
import { Option } from 'nest-commander';
import { UsageError } from './failure';

/**
 * Reads the text of an option or argument.
 * @param name what messages call it
 * @param before what the same option has read already
 * @throws UsageError if the text is invalid
 */
type Parser<Result> = (text: string, name: string, before?: Result) => Result;

interface Details<Result> {
  defaultValue?: Result & (string | number);
  required?: boolean;
}

type Declaration<Result> = <Key extends string>(command: Partial<Record<Key, Result>>, key: Key) => void;

/** A property that is true if the option is given. */
export function Flag(flags: string, description: string): Declaration<boolean> {
  return declare(flags, description, () => true);
}

/** A property that holds what the option says. It has the option's name. */
export function Value<Result>(
  flags: string,
  description: string,
  parse: Parser<Result>,
  details?: Details<Result>,
): Declaration<Result> {
  const name = /--[a-z-]+/.exec(flags)![0];
  return declare(flags, description, (text, before) => parse(text, name, before), details);
}

/** A value that older scripts give as an option, and the help shows as a position. Commands hide options without a description. */
export function Formerly<Result>(flags: string, parse: Parser<Result>): Declaration<Result> {
  return Value(flags, '', parse);
}

/**
 * The value of a required position, or of the option that stands for it.
 * @throws UsageError if there is neither, or both
 */
export function positionOr<Result>(
  name: string,
  text: string | undefined,
  parse: Parser<Result>,
  option: Result | undefined,
): Result {
  if (text === undefined && option === undefined) {
    throw new UsageError(`missing required argument '${name}' (see --help)`);
  }
  if (text !== undefined && option !== undefined) {
    throw new UsageError(`${name} is given twice.`);
  }
  return option ?? parse(text!, `<${name}>`);
}

/** The number of rows at most. @param noun what the rows are */
export function Limit(noun: string, max: number, defaultValue: number): Declaration<number> {
  return Value(`--limit <${noun}>`, `maximum number of ${noun}`, wholeNumber(1, max), { defaultValue });
}

/** The number of days that a report covers. */
export function Days(defaultValue: number): Declaration<number> {
  return Value('--days <days>', 'number of UTC days, 1 to 90', wholeNumber(1, 90), { defaultValue });
}

/** Gives the command the method that nest-commander expects of an option. */
function declare<Result>(
  flags: string,
  description: string,
  parse: (text: string, before?: Result) => Result,
  details: Details<Result> = {},
): Declaration<Result> {
  return (command, key) => {
    const method = { value: parse };
    Object.defineProperty(command, `parse ${key}`, method);
    Option({ flags, description, ...details })(command, `parse ${key}`, method);
  };
}

export function anyText(text: string): string {
  return text;
}

/** A whole number, as decimal digits. */
export function wholeNumber(min: number, max: number): Parser<number> {
  return (text, name) => numberWithin(min, max, text, `${name} takes a whole number from ${min} to ${max}`);
}

/** @param rule what the message says of valid values */
function numberWithin(min: number, max: number, text: string, rule: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max)) {
    throw new UsageError(`${rule}, not "${text}".`);
  }
  return value;
}

/** The id of anything. */
export function identifier(text: string, name = '<id>'): number {
  return numberWithin(1, Number.MAX_SAFE_INTEGER, text, `${name} takes an id, which is a whole number`);
}

/** A reference to a key: its id, or the whole key. */
export function keyReference(text: string, name = '<key>'): number | string {
  const rule = `${name} takes the id of a key, or the whole key`;
  return text.startsWith('psk_live_') ? text : numberWithin(1, Number.MAX_SAFE_INTEGER, text, rule);
}

export function oneOf<Known extends string>(known: readonly Known[]): Parser<Known> {
  return (text, name) => {
    const found = known.find((one) => one === text);
    if (found === undefined) {
      throw new UsageError(`${name} takes ${known.join(', ')}, not "${text}".`);
    }
    return found;
  };
}

/** Several texts, with commas or as several options. */
export function list(text: string, _name: string, before: string[] = []): string[] {
  return [...new Set([...before, ...text.split(',')])];
}

/** Several of the known texts. */
export function someOf<Known extends string>(known: readonly Known[]): Parser<Known[]> {
  return (text, name, before) => {
    const given = list(text, name, before);
    const found = known.filter((one) => given.includes(one));
    if (found.length < given.length) {
      throw new UsageError(`${name} takes ${known.join(', ')} or several of them, not "${text}".`);
    }
    return found;
  };
}

/** A time in the future: RFC 3339, or a day, which means its end in UTC. */
export function futureInstant(text: string, name: string): Date {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const instant = calendarInstant(text, name);
  const end = day ? new Date(instant.getTime() + UNIT_MS.d!) : instant;
  if (end.getTime() <= Date.now()) {
    throw new UsageError(`${name} must be in the future, not "${text}".`);
  }
  return end;
}

/** A time in the past: a day (its start in UTC), a time, or a duration such as `2h` (ago). */
export function pastInstant(text: string, name: string): Date {
  if (/^\d{4}-/.test(text)) {
    const instant = calendarInstant(text, name);
    if (instant.getTime() > Date.now()) {
      throw new UsageError(`${name} must not be in the future, not "${text}".`);
    }
    return instant;
  }
  if (!/^\d+[smhd]$/.test(text)) {
    throw new UsageError(
      `${name} takes a day (2026-11-01), a time (2026-11-01T12:00:00Z) or how long ago (90s, 10m, 2h, 7d), not "${text}".`,
    );
  }
  return new Date(Date.now() - LONG_AGO(text, name));
}

/** A day (its start in UTC) or a time with an offset. */
function calendarInstant(text: string, name: string): Date {
  const instant = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}(T.+(Z|[+-]\d{2}:\d{2}))?$/.test(text) || !exists(text.slice(0, 10), instant)) {
    throw new UsageError(`${name} takes a day (2027-01-31) or a time (2027-01-31T12:00:00Z), not "${text}".`);
  }
  return instant;
}

/** Date turns 31 February into 3 March. */
function exists(day: string, instant: Date): boolean {
  return !Number.isNaN(instant.getTime()) && new Date(day).toISOString().startsWith(day);
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as `90s`, `10m`, `2h` or `3d`, in milliseconds; `0` needs no unit. */
export function duration(minMs: number, maxMs: number): Parser<number> {
  return (text, name) => {
    const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text === '0' ? '0s' : text) ?? [];
    const milliseconds = Number(count) * UNIT_MS[unit]!;
    if (!(milliseconds >= minMs && milliseconds <= maxMs)) {
      const most = maxMs / UNIT_MS.d!;
      throw new UsageError(`${name} takes a time such as 90s, 10m, 2h or 3d, up to ${most}d, not "${text}".`);
    }
    return milliseconds;
  };
}

const LONG_AGO = duration(1_000, 3_650 * UNIT_MS.d!);

/** A text of one to so many characters. */
export function shortText(max: number): Parser<string> {
  return (text, name) => {
    if (text.trim() === '' || text.length > max) {
      throw new UsageError(`${name} takes 1 to ${max} characters.`);
    }
    return text;
  };
}

export function clientName(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text)) {
    throw new UsageError(
      `A client name is 1 to 100 letters, digits, dots, dashes and underscores, not "${text}".`,
    );
  }
  return text;
}
