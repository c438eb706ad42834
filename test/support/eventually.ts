import * as timers from 'node:timers/promises';

/** The real timers, which still work if a test replaces timers by fake ones. */
const sleep = timers.setTimeout;
const [startTimer, stopTimer] = [setTimeout, clearTimeout];

/** Only ends tests that hang, because no test asserts how long something takes. */
const LIMIT_MS = 120_000;
/** The pause between two attempts grows, because attempts take processor time from the work for which they wait. */
const PAUSE_MS = { first: 10, longest: 50 };
const longer = (pause: number) => Math.min(1.25 * pause, PAUSE_MS.longest);

/** Repeats the assertions, in real time, until they hold. If they never do, their last failure is thrown. */
export async function eventually<Result>(assertions: () => Result | Promise<Result>): Promise<Result> {
  const end = performance.now() + LIMIT_MS;
  for (let pause = PAUSE_MS.first; ; pause = longer(pause)) {
    try {
      return await assertions();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await sleep(pause);
  }
}

/** Waits for an event, such as the end of a process. If it never happens, an error that names the event is thrown. */
export async function within<Result>(what: string, event: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout;
  const never = new Promise<never>((_resolve, reject) => {
    timer = startTimer(() => reject(new Error(`Timed out waiting for ${what}`)), LIMIT_MS);
  });
  return Promise.race([event, never]).finally(() => stopTimer(timer));
}

/** Waits, in real time, until the condition is true. An error that the condition throws ends the wait. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  for (let pause = PAUSE_MS.first; !(await condition()); pause = longer(pause)) {
    if (performance.now() > end) throw new Error(`Timed out, still false: ${String(condition)}`);
    await sleep(pause);
  }
}
