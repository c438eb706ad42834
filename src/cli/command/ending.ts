// How a command ends before its work is done: by a signal, or because nobody reads its output any more.
import { constants } from 'node:os';
import type { StopSignals } from '../../runtime/stop-signals';
import { CommandFailure } from './failure';
import { outputFailure } from './files';

/** How long the command may take to clean up after a second signal. */
const HURRY_MS = 2_000;

/** A signal ended the command. */
class Interruption extends CommandFailure {
  constructor(
    readonly signal: NodeJS.Signals,
    outcome?: string,
  ) {
    // The exit code that shells use for signals.
    const exitCode = 128 + constants.signals[signal];
    const message = outcome === undefined ? 'interrupted.' : `interrupted; ${outcome}.`;
    super(message, { code: 'interrupted', exitCode });
  }
}

/** Aborted with the reason why this process must end. */
const ending = new AbortController();
/** Rejects with that reason. */
const ended = new Promise<never>((_resolve, reject) => {
  ending.signal.addEventListener('abort', () => reject(ending.signal.reason as Error));
});
// Not every command waits for it.
ended.catch(() => undefined);
/** How much work is running that ends by itself when the signal is aborted. */
let interruptibleWork = 0;

/** For the whole process. Signals after the first change nothing, except that cleaning up must not take long any more. */
export function endOn({ first, second }: StopSignals): void {
  void first.then((signal) => ending.abort(new Interruption(signal)));
  void second.then((signal) => {
    setTimeout(() => process.exit(new Interruption(signal).exitCode), HURRY_MS).unref();
  });
  process.stdout.on('error', (error: Error) => ending.abort(outputFailure(error)));
  // A terminal that was closed takes no messages.
  process.stderr.on('error', () => undefined);
}

/** Leaves the work as it is when this process must end, unless it is interruptible: then it is awaited. */
export function untilEnded<Result>(work: Promise<Result>): Promise<Result> {
  const left = ended.catch((reason: unknown) => {
    if (interruptibleWork === 0) {
      throw reason;
    }
    return work;
  });
  return Promise.race([work, left]);
}

/** Waits no longer when this process must end, within interruptible work too. */
export function unlessEnded<Result>(waiting: Promise<Result>): Promise<Result> {
  return Promise.race([waiting, ended]);
}

export function isEnding(): boolean {
  return ending.signal.aborted;
}

/**
 * Work that cleans up when a signal, or the end of whoever reads its output, stops it.
 * @param outcome the state after an interruption, as in "interrupted; nothing was imported"
 * @param work must reject with the signal's reason when it is aborted
 */
export async function interruptible<Result>(
  outcome: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  interruptibleWork += 1;
  try {
    return await work(ending.signal);
  } catch (error) {
    throw error instanceof Interruption ? new Interruption(error.signal, outcome) : error;
  } finally {
    interruptibleWork -= 1;
  }
}

/** Work without an end of its own: Ctrl-C is how it ends. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await interruptible('no more events are shown', work);
  } catch (error) {
    if (!(error instanceof Interruption && error.signal === 'SIGINT')) {
      throw error;
    }
  }
}
