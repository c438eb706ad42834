import { setTimeout as sleep } from 'node:timers/promises';

/** It only ends a hang: how soon something happens is never what a test is about. */
const LIMIT_MS = 120_000;
const PAUSE_MS = 10;

/** Repeats the assertions until they hold, for what happens in real time; fails with the last failure. */
export async function eventually<Result>(assertions: () => Result | Promise<Result>): Promise<Result> {
  for (const end = performance.now() + LIMIT_MS; ; await sleep(PAUSE_MS)) {
    try {
      return await assertions();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}

/** Waits, in real time, until this is so; fails where an attempt to find out does. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs = LIMIT_MS): Promise<void> {
  for (const end = performance.now() + limitMs; !(await condition()); await sleep(PAUSE_MS)) {
    if (performance.now() > end) throw new Error(`It never came to pass: ${String(condition)}`);
  }
}
