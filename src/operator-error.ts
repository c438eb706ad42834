/** What the operator has to mend, in one sentence, with a code for programs. All parts of the application throw it. */
export class OperatorError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}
