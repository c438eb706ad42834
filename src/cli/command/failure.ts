// How commands end early. They fail in one line on standard error, or in JSON if the command's output is JSON; a signal, or
// that nobody reads the output any more, interrupts them.
import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { inBackground } from '#libs/background';
import { describeFailure, failureOf } from '../../runtime/failures';
import { BAD_USAGE, OperatorError } from '../../operator-error';
import { formatError, printableJson, withoutSecrets } from '../../runtime/messages';
import type { StopSignals } from '../../runtime/stop-signals';

/** An error of the operating system: `cannot read pets.ndjson: no such file or directory.` */
export function systemMessage(verb: string, file: string, error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return `cannot ${verb} ${file}: ${known?.[1] ?? message}.`;
}

/**
 * The output could not be written completely. Where the reader of a pipe has closed it, as in `petstore export | head`, it has
 * what it wanted.
 */
export class OutputFailure extends OperatorError {
  constructor(error: NodeJS.ErrnoException) {
    const isReaderGone = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
    super(systemMessage('write to', 'standard output', error), 'failed', isReaderGone ? 0 : 1);
  }
}

/** Writes commander's usage errors in our format, in one line. */
export function writeUsageError(text: string, write: (text: string) => void): void {
  // What was probably meant is on a second line.
  const mistake = text
    .replace(/^error: /, '')
    .trim()
    .replace('\n(Did', ' (Did');
  const message = mistake.endsWith(')') ? mistake : `${mistake} (see --help)`;
  write(inFormat({ code: 'usage_error', message }, formatError(message)));
}

/**
 * Prints the error, unless commander has done so: help, whose exit code is 0, or a usage error.
 * @returns the exit code
 */
export function reportFailure(error: unknown): number {
  const { code, exitCode = 1 } = error as { code?: unknown; exitCode?: number };
  if (String(code).startsWith('commander.')) {
    return exitCode === 0 ? 0 : BAD_USAGE;
  }
  if (exitCode !== 0) {
    process.stderr.write(inFormat(failureOf(error), describeFailure(error)));
  }
  return exitCode;
}

/** Looks at the raw arguments, because parsing them may be what failed. */
function inFormat({ code, message, lines }: ReturnType<typeof failureOf>, text: string): string {
  return process.argv.includes('--json')
    ? `${printableJson({ error: { code, message: withoutSecrets(message), lines } })}\n`
    : text;
}

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
let outcomeAfterSignal: string | undefined;

/** For the whole process. Signals after the first change nothing, except that cleaning up must not take long any more. */
export function listenForInterruption({ first, second }: StopSignals): void {
  const interrupt = first.then((signal) => {
    const message = outcomeAfterSignal ? `interrupted; ${outcomeAfterSignal}.` : 'interrupted.';
    interruption.abort(new OperatorError(message, 'interrupted', exitCodeOf(signal)));
  });
  inBackground('Interrupting the command', interrupt);
  const hurry = second.then((signal) => setTimeout(() => process.exit(exitCodeOf(signal)), HURRY_MS).unref());
  inBackground('Ending the command', hurry);
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
    if (outcomeAfterSignal === undefined) {
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
  outcomeAfterSignal = outcome;
  try {
    return await work(interruption.signal);
  } catch (error) {
    interruption.signal.throwIfAborted();
    throw error;
  } finally {
    outcomeAfterSignal = undefined;
  }
}

/** Work without an end of its own: Ctrl-C is how it ends. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await interruptible('no more events are shown', work);
  } catch (error) {
    if ((error as Partial<OperatorError>).exitCode !== exitCodeOf('SIGINT')) {
      throw error;
    }
  }
}
