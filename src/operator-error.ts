/** What the operator has to mend, in one sentence, with a code for programs. All parts of the application throw it. */
export class OperatorError extends Error {
  constructor(
    message: string,
    readonly code = 'failed',
    /** Of a command that it ends. */
    readonly exitCode = 1,
    /** Details, one on each line below the sentence. */
    readonly lines?: readonly string[],
  ) {
    super(message);
  }
}

/** Invalid arguments of a command. The message says what is valid. */
export class UsageError extends OperatorError {
  constructor(message: string, code = 'usage_error') {
    super(message, code, BAD_USAGE);
  }
}

export const BAD_USAGE = 2;
