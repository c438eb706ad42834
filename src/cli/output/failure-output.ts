// Prints failures to standard error: one line, or JSON if the command's output is JSON.
import { formatError, printableJson, withoutKeys } from '../../runtime/messages';
import { explain, failureOf } from '../../runtime/failures';
import { CommandFailure, UsageError } from '../command/command-failure';

/** Checks the raw arguments, because parsing them may be what failed. */
export function asksForJson(given: readonly string[]): boolean {
  return /(^| )(--json|(--output|-o)[= ]?json)( |$)/.test(given.join(' '));
}

export function failureAsJson(code: string, message: string): string {
  return `${printableJson({ error: { code, message: withoutKeys(message) } })}\n`;
}

/** Prints the error and exits. */
export function fail(error: unknown): never {
  const { text, code, exitCode } = describe(error);
  process.stderr.write(asksForJson(process.argv) ? failureAsJson(code, text.message) : text.line);
  process.exit(exitCode);
}

function describe(error: unknown) {
  if (error instanceof UsageError) {
    return { text: textOf(error.message), code: error.code, exitCode: 2 };
  }
  if (error instanceof CommandFailure) {
    return { text: textOf(error.message), code: error.code, exitCode: error.exitCode };
  }
  const { code, message } = failureOf(error);
  return { text: { message, line: explain(error) }, code, exitCode: 1 };
}

function textOf(message: string) {
  return { message, line: formatError(message) };
}
