/** The command could not do its work. The message is one line for whoever ran it, to follow the name of the program. */
export class CommandFailure extends Error {
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}
