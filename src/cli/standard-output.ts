// Standard output, of which nothing is lost without a word.

import { fstatSync, writeSync } from 'node:fs';
import { CommandFailure, systemMessage } from './command-failure';

const STANDARD_OUTPUT = 1;

/** The output could not be written, or not all of it. */
export class OutputFailure extends CommandFailure {
  constructor(error: unknown) {
    super(systemMessage('write to', 'standard output', error));
  }
}

/** Whoever read the output has had enough of it (`petstore openapi | head`), which is no failure. */
export function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}

/**
 * Writes to standard output.
 * @param done told when a terminal or a pipe has taken it, or why it did not
 * @throws OutputFailure at once when standard output is a file that cannot take all of it
 */
export function writeOutput(content: string | Buffer, done?: (error?: Error | null) => void): void {
  if (isStream()) {
    process.stdout.write(content, done);
    return;
  }
  writeWhole(STANDARD_OUTPUT, content);
  done?.();
}

/**
 * Writes all of it. A disk that fills up takes a part of it first and fails at the next attempt only, which Node's
 * own stream for files never makes.
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

/** Terminals and pipes take what they can when they can; Node waits for them, and tells when they fail. */
function isStream(): boolean {
  const stats = fstatSync(STANDARD_OUTPUT);
  return process.stdout.isTTY || stats.isFIFO() || stats.isSocket();
}
