// How a command ends before its work is done: by a signal, or because nobody reads its output any more.
import { constants } from 'node:os';
import type { StopSignals } from '../../runtime/stop-signals';
import { CommandFailure } from './failure';
import { OutputFailure } from './files';

/** How long the command may take to clean up after a second signal. */
const HURRY_MS = 2_000;

/** A signal ended the command. */
class SignalReceived extends CommandFailure {
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
const interruption = new AbortController();
/** Rejects with that reason. */
const interrupted = new Promise<never>((_resolve, reject) => {
  interruption.signal.addEventListener('abort', () => reject(interruption.signal.reason as Error));
});
// Not every command waits for it.
interrupted.catch(() => undefined);
/** How much work is running that ends by itself when the signal is aborted. */
let interruptibleWork = 0;

/** For the whole process. Signals after the first change nothing, except that cleaning up must not take long any more. */
export function listenForInterruption({ first, second }: StopSignals): void {
  void first.then((signal) => interruption.abort(new SignalReceived(signal)));
  void second.then((signal) => {
    setTimeout(() => process.exit(new SignalReceived(signal).exitCode), HURRY_MS).unref();
  });
  process.stdout.on('error', (error: Error) => interruption.abort(new OutputFailure(error)));
  // A terminal that was closed takes no messages.
  process.stderr.on('error', () => undefined);
}

/** Leaves the work as it is at an interruption, unless it is interruptible: then it is awaited. */
export function finishUnlessInterrupted<Result>(work: Promise<Result>): Promise<Result> {
  const left = interrupted.catch((reason: unknown) => {
    if (interruptibleWork === 0) {
      throw reason;
    }
    return work;
  });
  return Promise.race([work, left]);
}

/** Waits no longer at an interruption, within interruptible work too. */
export function unlessInterrupted<Result>(waiting: Promise<Result>): Promise<Result> {
  return Promise.race([waiting, interrupted]);
}

/**
 * Work that cleans up at an interruption.
 * @param outcome the state after a signal, as in "interrupted; nothing was imported"
 * @param work must reject with the signal's reason when it is aborted
 */
export async function interruptible<Result>(
  outcome: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  interruptibleWork += 1;
  try {
    return await work(interruption.signal);
  } catch (error) {
    throw error instanceof SignalReceived ? new SignalReceived(error.signal, outcome) : error;
  } finally {
    interruptibleWork -= 1;
  }
}

/** Work without an end of its own: Ctrl-C is how it ends. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await interruptible('no more events are shown', work);
  } catch (error) {
    if (!(error instanceof SignalReceived && error.signal === 'SIGINT')) {
      throw error;
    }
  }
}
