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

/** The text of an option or argument is invalid. Commander reports it with the option that it belongs to. */
export class InvalidValue extends UsageError {
  constructor(message: string) {
    super(message, 'commander.invalidArgument');
  }
}

/** An error of the operating system: `cannot read pets.ndjson: no such file or directory.` */
export function systemMessage(verb: string, file: string, error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return `cannot ${verb} ${file}: ${known?.[1] ?? message}.`;
}

/** Writes commander's usage errors in our format: one line that says once what is wrong. */
export function writeUsageError(text: string, write: (text: string) => void): void {
  const line = text.replace(/^error: /, '').trim();
  // Commander repeats the value, then says where it is from, and then what the parser says of it.
  const [frame = '', invalid] = line.split("' is invalid");
  const option = /^option '.*?(--[\w-]+)/.exec(frame)?.[1];
  const argument = /^ for argument '(\w+)'/.exec(invalid ?? '')?.[1];
  // What was probably meant is on a second line.
  const mistake = line.replace('\n(Did', ' (Did');
  const hint = mistake.endsWith(')') ? '' : ' (see --help)';
  const problem = invalid?.slice(invalid.indexOf('. ') + 2);
  const message = problem === undefined ? mistake + hint : `${option ?? `<${argument}>`}: ${problem}`;
  write(inFormat({ code: 'usage_error', message }, formatError(message)));
}

/**
 * Prints the error, unless commander has done so: help, whose exit code is 0, or a usage error.
 * @returns the exit code
 */
export function reportFailure(error: unknown): number {
  const { code, exitCode = 1 } = error as { code?: unknown; exitCode?: number };
  if (!(error instanceof CommandFailure) && String(code).startsWith('commander.')) {
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
