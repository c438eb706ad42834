/**
 * An error that the operator has to solve. The message is one sentence for people, and the code is for programs. All parts
 * of the application throw this error.
 */
export class OperatorError extends Error {
  constructor(
    message: string,
    readonly code = 'failed',
    /** The exit code of a command that ends with this error. */
    readonly exitCode = 1,
    readonly lines?: readonly string[],
  ) {
    super(message);
  }
}

export class UsageError extends OperatorError {
  constructor(message: string, code = 'usage_error') {
    super(message, code, BAD_USAGE);
  }
}

export const BAD_USAGE = 2;
