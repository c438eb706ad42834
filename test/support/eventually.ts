import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import * as timers from 'node:timers/promises';

/** The real ones, whatever timers a test fakes later. */
const sleep = timers.setTimeout;
const [startTimer, stopTimer] = [setTimeout, clearTimeout];

/** It only ends a hang: how soon something happens is never what a test is about. */
const LIMIT_MS = 120_000;
/** Between two attempts, which take the processor from what they wait for: the longer that lasts, the fewer they become. */
const PAUSE_MS = { first: 10, longest: 50 };
const longer = (pause: number) => Math.min(1.25 * pause, PAUSE_MS.longest);

/** Repeats the assertions until they hold, for what happens in real time; fails with the last failure. */
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

/** Waits for what a process or a connection does; fails with what it waited for instead of waiting forever. */
export async function within<Result>(what: string, event: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout;
  const never = new Promise<never>((_resolve, reject) => {
    timer = startTimer(() => reject(new Error(`Waited in vain for ${what}`)), LIMIT_MS);
  });
  return Promise.race([event, never]).finally(() => stopTimer(timer));
}

/** Waits, in real time, until this is so; fails where an attempt to find out does. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  for (let pause = PAUSE_MS.first; !(await condition()); pause = longer(pause)) {
    if (performance.now() > end) throw new Error(`It never came to pass: ${String(condition)}`);
    await sleep(pause);
  }
}

/** Has a server listen on a loopback address, on any free port by default. @returns its port */
export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
