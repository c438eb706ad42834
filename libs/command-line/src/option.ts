import { UsageError, withoutSecrets } from '#libs/messages';
import type { Commander } from './command';

export function wholeNumber(min: number, max: number, name = `a whole number from ${min} to ${max}`) {
  return (text: string): number => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (!(value >= min && value <= max)) {
      throw new UsageError(`"${text}" is not ${name}.`);
    }
    return value;
  };
}

export const DAYS_OPTION = ['--days <days>', 'number of UTC days, 1 to 90', wholeNumber(1, 90)] as const;

export const identifier = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'an id, which is a whole number');

export function commaSeparated<Known extends string>(known: readonly Known[]) {
  return (text: string, before: Known[] = []): Known[] => {
    const given = new Set<string>([...before, ...text.split(',')]);
    const unknown = [...given].find((one) => !known.includes(one as Known));
    if (unknown !== undefined) {
      throw new UsageError(`"${unknown}" is not one of ${known.join(', ')}.`);
    }
    return known.filter((one) => given.has(one));
  };
}

/** Declares an option that takes one or more of the known texts, which help and completion show. */
export function commaSeparatedOption<Known extends string>(
  command: Commander,
  flags: string,
  description: string,
  known: readonly Known[],
) {
  return command.createOption(flags, description).choices(known).argParser(commaSeparated(known));
}

/** The last time that RFC 3339 can express, because its years have four digits. */
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

/** Reads a time in the future in RFC 3339 format. A day such as `2027-01-31` means the end of that day in UTC. */
export function futureInstant(text: string): Date {
  const instant = Date.parse(text);
  const [day = '', time] = /^(\d{4}-\d{2}-\d{2})(T.+(Z|[+-]\d{2}:\d{2}))?$/.exec(text)?.slice(1) ?? [];
  // `Date` turns 31 February into 3 March, so compare the day with the text.
  if (Number.isNaN(instant) || day === '' || !new Date(day).toJSON().startsWith(day)) {
    throw new UsageError(`"${text}" is not a day (2027-01-31) or a time (2027-01-31T12:00:00Z).`);
  }
  const end = Math.min(time === undefined ? instant + UNIT_MS.d! : instant, LAST_INSTANT);
  if (end <= Date.now()) {
    throw new UsageError(`"${text}" is not in the future.`);
  }
  return new Date(end);
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration such as `90s`, `10m`, `2h` or `3d`, and returns milliseconds. `0` needs no unit. */
export function duration(minMs: number, maxMs: number) {
  return (text: string): number => {
    const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text === '0' ? '0s' : text) ?? [];
    const milliseconds = Number(count) * UNIT_MS[unit]!;
    if (!(milliseconds >= minMs && milliseconds <= maxMs)) {
      const most = maxMs / UNIT_MS.d!;
      throw new UsageError(`"${text}" is not a time such as 90s, 10m, 2h or 3d, up to ${most}d.`);
    }
    return milliseconds;
  };
}

/** Reads a text of at most `max` Unicode code points in the composed form (NFC), in which the text is stored. */
export function shortText(max: number) {
  return (given: string): string => {
    const text = given.normalize('NFC');
    if (text.trim() === '' || [...text].length > max) {
      throw new UsageError(`the text must have 1 to ${max} characters.`);
    }
    assertNoSecret(text);
    return text;
  };
}

/** @throws UsageError if a text that is to be stored and shown contains an API key or the password of a URL */
export function assertNoSecret(text: string): void {
  if (withoutSecrets(text) !== text) {
    throw new UsageError('the text contains an API key or a password, which would be stored and shown.');
  }
}

/**
 * Declares a value that users may give as the first argument or as an option: `create acme` or `create --name acme`. The
 * command gets the value as its first argument.
 * @param flags the option, for example `--name <name>`
 */
export function argumentOrOption(
  command: Commander,
  flags: string,
  description: string,
  {
    isRequired = false,
    parse = (text) => text,
  }: { isRequired?: boolean; parse?: (text: string) => string } = {},
): void {
  const option = command.createOption(flags, 'the same as the argument').argParser(parse);
  const name = option.attributeName();
  command.argument(`[${name}]`, description, parse).addOption(option);
  if (isRequired) {
    command.usage(`[options] <${name}>`);
  }
  command.hook('preAction', () => {
    const given = [command.processedArgs[0], command.getOptionValue(name) as unknown].filter(
      (value) => value !== undefined,
    );
    if (given.length > 1 || (isRequired && given.length === 0)) {
      throw new UsageError(`give <${name}> once: as an argument, or with ${option.long}.`);
    }
    command.processedArgs[0] = given[0] as string | undefined;
  });
}
