import { getSystemErrorMap } from 'node:util';
import widthOf from 'string-width';
import {
  BAD_USAGE,
  OperatorError,
  UsageError,
  describeFailure,
  failureOf,
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
 * The error if standard output cannot be written. If the reader of a pipe has closed the pipe, as `head` does, the exit
 * code is 0, otherwise 1.
 */
export class OutputFailure extends OperatorError {
  constructor(error: NodeJS.ErrnoException) {
    const isReaderGone = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
    super(systemMessage('write to', 'standard output', error), 'failed', isReaderGone ? 0 : 1);
  }
}

export function writeUsageError(text: string, write: (text: string) => void): void {
  // Commander writes its suggestion (`Did you mean …?`) on a second line. Join both lines, because every error of the
  // command line is printed as one line.
  const mistake = text
    .replace(/^error: /, '')
    .trim()
    .replace('\n(Did', ' (Did');
  const message = mistake.endsWith(')') ? mistake : `${mistake} (see --help)`;
  write(reportOf(new UsageError(message)));
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
    process.stderr.write(reportOf(error));
  }
  return exitCode;
}

/** Returns the error as JSON if the arguments contain `--json`, otherwise as text. */
function reportOf(error: unknown): string {
  const { code, message, lines } = failureOf(error);
  return process.argv.includes('--json')
    ? `${printableJson({ error: { code, message: withoutSecrets(message), lines } })}\n`
    : inRows(describeFailure(error), process.stderr.columns || Infinity);
}

/**
 * If the next word does not fit into a row of the terminal, fills the rest of the row with spaces, so that the word
 * starts in the next row. A line break instead of spaces would cut a command that is copied from the message.
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
