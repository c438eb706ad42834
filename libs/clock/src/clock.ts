import { Global, Module } from '@nestjs/common';

export const DAY_MS = 86_400_000;

/** The day of this unix time in milliseconds, in UTC: `2026-11-21`. */
export function utcDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** The source of time. Tests replace it. */
export abstract class Clock {
  /** Milliseconds of unix time. */
  abstract now(): number;

  /**
   * Calls back later, unless the process ends before.
   * @returns cancels the call
   */
  abstract later(milliseconds: number, callback: () => void): () => void;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }

  later(milliseconds: number, callback: () => void): () => void {
    const timer = setTimeout(callback, milliseconds).unref();
    return () => clearTimeout(timer);
  }
}

/** A clock that only moves when told, for tests. Nothing happens later by itself. */
export class ManualClock extends Clock {
  constructor(private current: number = Date.UTC(2026, 10, 21, 9, 30)) {
    super();
  }

  now(): number {
    return this.current;
  }

  later(): () => void {
    return () => undefined;
  }

  /** Moves the clock by this many milliseconds; a negative number sets it back. */
  advance(milliseconds: number): void {
    this.current += milliseconds;
  }

  set(now: number): void {
    this.current = now;
  }
}

@Global()
@Module({ providers: [{ provide: Clock, useClass: SystemClock }], exports: [Clock] })
export class ClockModule {}
