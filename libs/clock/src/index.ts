export const DAY_MS = 86_400_000;

/** The day of this unix time in milliseconds, in UTC: `2026-11-21`. */
export function utcDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** The source of time. Tests replace it. */
export abstract class Clock {
  /** Milliseconds of unix time. */
  abstract now(): number;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}
