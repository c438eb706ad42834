// Relative times in the largest fitting unit.

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/**
 * `3 h ago`, `in 2 d`.
 * @param now unix milliseconds
 * @returns undefined for anything but an instant in UTC
 */
export function relativeTime(text: string, now: number): string | undefined {
  if (!INSTANT.test(text)) {
    return undefined;
  }
  const difference = Date.parse(text) - now;
  const size = Math.abs(difference);
  const [unit, length] = UNITS.find(([, milliseconds]) => size >= milliseconds) ?? [];
  if (unit === undefined || length === undefined) {
    return 'now';
  }
  const amount = `${Math.floor(size / length).toLocaleString('en-US')} ${unit}`;
  return difference < 0 ? `${amount} ago` : `in ${amount}`;
}
