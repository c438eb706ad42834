// How a command ends before its work is done: by a signal, or because nobody reads its output any more.
import { constants } from 'node:os';
import type { StopSignals } from '../../runtime/stop-signals';
import { CommandFailure, OutputFailure } from './failure';

/** How long the command may take to clean up after a second signal. */
const HURRY_MS = 2_000;

/** Aborted with the reason why this process must end. */
const interruption = new AbortController();

/** Rejects with the reason why this process must end. */
export const interrupted = new Promise<never>((_resolve, reject) => {
  interruption.signal.addEventListener('abort', () => reject(interruption.signal.reason as Error));
});
// Not every command waits for it.
interrupted.catch(() => undefined);

/** What a signal leaves of the work that is running, if that ends by itself: `the target was not changed`. */
let remains: string | undefined;

/** For the whole process. Signals after the first change nothing, except that cleaning up must not take long any more. */
export function listenForInterruption({ first, second }: StopSignals): void {
  void first.then((signal) => {
    const message = remains ? `interrupted; ${remains}.` : 'interrupted.';
    interruption.abort(new CommandFailure(message, { code: 'interrupted', exitCode: exitCodeOf(signal) }));
  });
  void second.then((signal) => setTimeout(() => process.exit(exitCodeOf(signal)), HURRY_MS).unref());
  process.stdout.on('error', (error: Error) => interruption.abort(new OutputFailure(error)));
  // A terminal that was closed takes no messages.
  process.stderr.on('error', () => undefined);
}

/** As shells report that a signal ended a process. */
function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** Leaves the work as it is at an interruption, unless it is interruptible: then it is awaited. */
export function finishUnlessInterrupted<Result>(work: Promise<Result>): Promise<Result> {
  const left = interrupted.catch((reason: unknown) => {
    if (remains === undefined) {
      throw reason;
    }
    return work;
  });
  return Promise.race([work, left]);
}

/**
 * Work that cleans up at an interruption.
 * @param outcome what a signal leaves of it; empty if the work reports that itself
 * @param work must end when the signal is aborted; with which error does not matter
 */
export async function interruptible<Result>(
  outcome: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  remains = outcome;
  try {
    return await work(interruption.signal);
  } catch (error) {
    interruption.signal.throwIfAborted();
    throw error;
  } finally {
    remains = undefined;
  }
}

/** Work without an end of its own: Ctrl-C is how it ends. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await interruptible('no more events are shown', work);
  } catch (error) {
    if ((error as Partial<CommandFailure>).exitCode !== exitCodeOf('SIGINT')) {
      throw error;
    }
  }
}
