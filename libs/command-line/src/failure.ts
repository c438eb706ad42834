import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import widthOf from 'string-width';
import { inBackground } from '#libs/background';
import {
  BAD_USAGE,
  type Failure,
  OperatorError,
  describeFailure,
  failureOf,
  formatError,
  printableJson,
  withoutSecrets,
} from '#libs/messages';

/** Returns a message about a failed system call, for example `cannot read report.csv: no such file or directory.` */
export function systemMessage(verb: string, file: string, error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return `cannot ${verb} ${file}: ${known?.[1] ?? message}.`;
}

/**
 * Standard output could not be written completely. If the reader has closed the pipe, as in `program list | head`, the
 * exit code is 0.
 */
export class OutputFailure extends OperatorError {
  constructor(error: NodeJS.ErrnoException) {
    const isReaderGone = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
    super(systemMessage('write to', 'standard output', error), 'failed', isReaderGone ? 0 : 1);
  }
}

export function writeUsageError(text: string, write: (text: string) => void): void {
  // Commander writes its suggestion (`Did you mean …?`) on a second line, but an error takes one line.
  const mistake = text
    .replace(/^error: /, '')
    .trim()
    .replace('\n(Did', ' (Did');
  const message = mistake.endsWith(')') ? mistake : `${mistake} (see --help)`;
  write(inFormat({ code: 'usage_error', message }, formatError(message)));
}

/**
 * Prints the error, unless commander has printed help or a usage error already.
 * @returns the exit code of the process
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

/** Returns the failure as JSON if the arguments contain `--json`, otherwise the given text. */
function inFormat({ code, message, lines }: Failure, text: string): string {
  return process.argv.includes('--json')
    ? `${printableJson({ error: { code, message: withoutSecrets(message), lines } })}\n`
    : inRows(text, process.stderr.columns || Infinity);
}

/**
 * Fills a row of the terminal with spaces if the next word does not fit into the row. A line break would cut a command
 * that is copied from the message.
 */
export function inRows(text: string, columns: number): string {
  let column = 0;
  const words = text.split(/(?<=\s)/).map((word) => {
    const width = widthOf(word);
    const left = columns - (column % columns);
    const space = width > left && width <= columns ? left : 0;
    column = word.endsWith('\n') ? 0 : column + space + width;
    return ' '.repeat(space) + word;
  });
  return words.join('');
}

const HURRY_MS = 2_000;

const interruption = new AbortController();

/** Rejects with the reason if this process has to end early, because of a signal or because its output was closed. */
export const interrupted = new Promise<never>((_resolve, reject) => {
  interruption.signal.addEventListener('abort', () => reject(interruption.signal.reason as Error));
});
// Handle the rejection here, too: not every command awaits `interrupted`, and an unhandled rejection would end the
// process.
interrupted.catch(() => undefined);

/**
 * The state in which an interruption leaves the running work, for the error message: for example `the target was not
 * changed`.
 */
let outcomeAfterSignal: string | undefined;

/** Interrupts the command at the first signal. After a second signal, the command has two seconds left to clean up. */
export function listenForInterruption({
  first,
  second,
}: Record<'first' | 'second', Promise<NodeJS.Signals>>): void {
  const interrupt = first.then((signal) => {
    const message = outcomeAfterSignal ? `interrupted; ${outcomeAfterSignal}.` : 'interrupted.';
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
 * Waits for the work. An interruption ends the wait at once, except for work that has to clean up (`interruptible`).
 */
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
 * Runs work that cleans up if the command is interrupted.
 * @param outcome the state in which an interruption leaves the work, for the error message; may be empty
 * @param work must end, with any error, when the signal is aborted
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

/**
 * Runs work that ends only with an interruption, such as showing new events. Ctrl-C ends the command successfully, and other
 * signals end the command with an error.
 * @param outcome the state in which such a signal leaves the work, for the error message
 */
export async function untilInterrupted(
  outcome: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  try {
    await interruptible(outcome, work);
  } catch (error) {
    if ((error as Partial<OperatorError>).exitCode !== exitCodeOf('SIGINT')) {
      throw error;
    }
  }
}
