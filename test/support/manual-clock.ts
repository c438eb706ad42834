import { Clock } from '#libs/clock';

/** A clock that moves only if a test moves it. */
export class ManualClock extends Clock {
  constructor(private current: number = Date.UTC(2026, 10, 21, 9, 30)) {
    super();
  }

  override now(): number {
    return this.current;
  }

  /** Moves the clock by this many milliseconds; a negative number sets it back. */
  advance(milliseconds: number): void {
    this.current += milliseconds;
  }

  set(now: number): void {
    this.current = now;
  }
}
