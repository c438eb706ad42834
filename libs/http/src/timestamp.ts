export const MAX_TIMESTAMP_LENGTH = 64;
const RFC_3339 =
  /^((\d{4})-(\d{2})-(\d{2}))T((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * Reads a timestamp of RFC 3339, to the millisecond. A leap second is the first second of the next day, as in POSIX time.
 * @returns null if the text is not one, with an offset, in the years 0001 to 9999, also in UTC
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
