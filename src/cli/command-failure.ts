import { getSystemErrorMap } from 'node:util';

interface Ending {
  /** What programs tell the failure by. */
  code?: string;
  exitCode?: number;
}

/** The command could not do its work. The message is one line for whoever ran it, to follow the name of the program. */
export class CommandFailure extends Error {
  readonly code: string;
  readonly exitCode: number;

  constructor(message: string, { code = 'failed', exitCode = 1 }: Ending = {}) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** What the operating system says against a file: `cannot read pets.ndjson: no such file or directory.` */
export function systemMessage(verb: string, file: string, error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return `cannot ${verb} ${file}: ${known?.[1] ?? message}.`;
}
