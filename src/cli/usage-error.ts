/** The arguments do not make a command; the message says what would. */
export class UsageError extends Error {}
