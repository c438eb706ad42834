/** Invalid arguments. The message says what is valid. */
export class UsageError extends Error {
  constructor(
    message: string,
    /** For programs. */
    readonly code = 'usage_error',
  ) {
    super(message);
  }
}
