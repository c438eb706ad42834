import { constants } from 'node:os';
import { inBackground } from '#libs/background';
import { OperatorError } from '#libs/messages';
import { OutputFailure } from './failure';

const HURRY_MS = 2_000;

const interruption = new AbortController();

/** Rejects with the reason if this process has to end early, because of a signal or because its output was closed. */
export const interrupted = new Promise<never>((_resolve, reject) => {
  interruption.signal.addEventListener('abort', () => reject(interruption.signal.reason as Error));
});
// Handle the rejection, because not every command awaits `interrupted`, and an unhandled rejection would end the process.
interrupted.catch(() => undefined);

/**
 * The clean-up that an interruption has to wait for. Set only while `interruptible` runs work, which cleans up after an
 * interruption. Undefined while other work runs, which has nothing to clean up and is abandoned at once.
 */
let cleanUp: { outcome: string | undefined } | undefined;

/**
 * Interrupts the command at the first signal. After a second signal, the command has two seconds left to clean up.
 * @param first resolves at the first signal
 * @param second resolves at the second signal
 */
export function listenForInterruption({
  first,
  second,
}: Record<'first' | 'second', Promise<NodeJS.Signals>>): void {
  const interrupt = first.then((signal) => {
    const outcome = cleanUp?.outcome;
    const message = outcome === undefined ? 'interrupted.' : `interrupted; ${outcome}.`;
    interruption.abort(new OperatorError(message, 'interrupted', exitCodeOf(signal)));
  });
  inBackground('Interrupting the command', interrupt);
  const hurry = second.then((signal) => setTimeout(() => process.exit(exitCodeOf(signal)), HURRY_MS).unref());
  inBackground('Ending the command', hurry);
  process.stdout.on('error', (error: Error) => interruption.abort(new OutputFailure(error)));
  // Writing to a terminal that was closed fails. Ignore the error, which nobody could read.
  process.stderr.on('error', () => undefined);
}

function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/**
 * Waits for the work of a command. If an interruption comes, rejects at once and abandons the work. Work that runs inside
 * `interruptible` (below) is not abandoned, because it cleans up after an interruption. In this case, waits for its end.
 */
export function finishUnlessInterrupted<Result>(work: Promise<Result>): Promise<Result> {
  const left = interrupted.catch((reason: unknown) => {
    if (cleanUp === undefined) {
      throw reason;
    }
    return work;
  });
  return Promise.race([work, left]);
}

/**
 * Runs work that cleans up if the command is interrupted. Must not be called while such work already runs.
 * @param work must end, with any error, when the signal is aborted
 * @param outcome the state in which an interruption leaves the work, for the error message, such as `the target was not
 * changed`
 */
export async function interruptible<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  outcome?: string,
): Promise<Result> {
  cleanUp = { outcome };
  try {
    return await work(interruption.signal);
  } catch (error) {
    interruption.signal.throwIfAborted();
    throw error;
  } finally {
    cleanUp = undefined;
  }
}

/**
 * Runs work that ends only with an interruption, such as showing new events. If Ctrl-C ends the work, the command
 * succeeds. If another signal ends the work, the command fails.
 * @param outcome the state in which such another signal leaves the work, for the error message
 */
export async function untilInterrupted(
  work: (signal: AbortSignal) => Promise<void>,
  outcome: string,
): Promise<void> {
  try {
    await interruptible(work, outcome);
  } catch (error) {
    if ((error as Partial<OperatorError>).exitCode !== exitCodeOf('SIGINT')) {
      throw error;
    }
  }
}
