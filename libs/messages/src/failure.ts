import { printable, withoutSecrets } from './text';

/** An error that the operator has to solve. The message is one sentence for people, and the code is for programs. */
export class OperatorError extends Error {
  constructor(
    message: string,
    readonly code = 'failed',
    readonly exitCode = 1,
    readonly lines?: readonly string[],
  ) {
    super(message);
  }
}

export class StartError extends OperatorError {
  constructor(message: string) {
    super(message, 'cannot_start');
  }
}

export class UsageError extends OperatorError {
  constructor(message: string, code = 'usage_error') {
    super(message, code, BAD_USAGE);
  }
}

export const BAD_USAGE = 2;

export interface Failure {
  code: string;
  message: string;
  lines?: readonly string[];
}

/** The code of an unexpected failure, whose message is the stack of the error. */
export const DEFECT = 'internal_error';

/**
 * What the functions of this file need to know about the program: its name, which begins each line, and a function that
 * turns the errors of other libraries into a `Failure`. The program sets both when it starts.
 */
export const failureSettings = {
  programName: 'error',
  explain: (error: unknown): Failure => ({ code: DEFECT, message: (error as Error).stack ?? String(error) }),
};

export function formatError(message: string): string {
  return `${failureSettings.programName}: ${printable(withoutSecrets(message))}\n`;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof OperatorError) {
    const { code, message, lines } = error;
    return { code, message, lines };
  }
  return failureSettings.explain(error);
}

export function describeFailure(error: unknown): string {
  const { code, message, lines = [] } = failureOf(error);
  return code === DEFECT
    ? `${failureSettings.programName}: ${message.split('\n').map(printable).join('\n')}\n`
    : formatError(message) + lines.map((line) => `${printable(line)}\n`).join('');
}
