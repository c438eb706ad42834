// How commands fail: in one line on standard error, or in JSON if the command's output is JSON.
import { getSystemErrorMap } from 'node:util';
import { describeFailure, failureOf } from '../../runtime/failures';
import { OperatorError } from '../../operator-error';
import { formatError, printableJson, withoutSecrets } from '../../runtime/messages';

const BAD_USAGE = 2;

/** The command failed. The message is one line that follows the program's name. */
export class CommandFailure extends OperatorError {
  readonly exitCode: number;

  constructor(message: string, { code = 'failed', exitCode = 1 } = {}) {
    super(message, code);
    this.exitCode = exitCode;
  }
}

/** Invalid arguments. The message says what is valid. */
export class UsageError extends CommandFailure {
  constructor(message: string, code = 'usage_error') {
    super(message, { code, exitCode: BAD_USAGE });
  }
}

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
export class OutputFailure extends CommandFailure {
  constructor(error: NodeJS.ErrnoException) {
    const isReaderGone = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
    super(systemMessage('write to', 'standard output', error), { exitCode: isReaderGone ? 0 : 1 });
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
function inFormat({ code, message }: { code: string; message: string }, text: string): string {
  return process.argv.includes('--json')
    ? `${printableJson({ error: { code, message: withoutSecrets(message) } })}\n`
    : text;
}
