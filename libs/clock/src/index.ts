export const DAY_MS = 86_400_000;

/** Returns the UTC date of a unix time in milliseconds, for example `2026-11-21`. */
export function utcDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** The source of the current time. Tests replace the clock. */
export class Clock {
  /** Returns the current unix time in milliseconds. */
  now(): number {
    return Date.now();
  }
}
