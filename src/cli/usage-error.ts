/** The arguments do not make a command; the message says what would. */
export class UsageError extends Error {
  constructor(
    message: string,
    /** What programs tell the failure by. */
    readonly code = 'usage_error',
  ) {
    super(message);
  }
}
