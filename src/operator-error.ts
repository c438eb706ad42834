/**
 * What the operator has to mend: the message is one sentence for people, the code is for programs. It is reported without a
 * stack, wherever it is thrown. A file of its own, because all parts of the application throw it.
 */
export class OperatorError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}
