import { getSystemErrorMap } from 'node:util';

interface Ending {
  /** For programs. */
  code?: string;
  exitCode?: number;
}

/** The command failed. The message is one line that follows the program's name. */
export class CommandFailure extends Error {
  readonly code: string;
  readonly exitCode: number;

  constructor(message: string, { code = 'failed', exitCode = 1 }: Ending = {}) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}

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

/** An error of the operating system: `cannot read pets.ndjson: no such file or directory.` */
export function systemMessage(verb: string, file: string, error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return `cannot ${verb} ${file}: ${known?.[1] ?? message}.`;
}
