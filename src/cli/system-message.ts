import { getSystemErrorMap } from 'node:util';

/** What the operating system says against a file: `cannot read pets.ndjson: no such file or directory.` */
export function systemMessage(verb: string, file: string, error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return `cannot ${verb} ${file}: ${known?.[1] ?? message}.`;
}
