// Standard output, with all write errors reported.

import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { CommandFailure, systemMessage } from '../command/failure';

const STANDARD_OUTPUT = 1;

/** The output could not be written completely. */
export class OutputFailure extends CommandFailure {
  constructor(error: unknown) {
    super(systemMessage('write to', 'standard output', error));
  }
}

/** The reader closed the pipe (`petstore openapi | head`), which is no failure. */
export function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}

/**
 * Writes to standard output.
 * @param done called when it is written, or with the error
 * @throws OutputFailure if standard output is a file that cannot be written completely
 */
export function writeOutput(content: string | Buffer, done?: (error?: Error | null) => void): void {
  // For terminals and pipes, Node handles partial writes and errors itself. Not asked of fstatSync: after it has seen a pipe,
  // Node 20 may take a package behind a symbolic link for another one and load it twice.
  if (process.stdout instanceof Socket) {
    process.stdout.write(content, done);
    return;
  }
  writeWhole(STANDARD_OUTPUT, content);
  done?.();
}

/**
 * Writes everything. A full disk accepts a part first and fails only at the next write, which Node's own stream for files
 * never attempts.
 */
export function writeWhole(descriptor: number, content: string | Buffer): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  try {
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(descriptor, bytes, written);
    }
  } catch (error) {
    throw new OutputFailure(error);
  }
}
