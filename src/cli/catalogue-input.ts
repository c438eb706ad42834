import { fstatSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Readable, addAbortSignal } from 'node:stream';
import { UsageError } from './command';
import { CommandFailure, systemMessage } from './command-failure';

/** How much of a file is read at once. */
const CHUNK_BYTES = 256 * 1024;
const STANDARD_INPUT = 0;

export interface CatalogueInput {
  /** What it is called in messages. */
  name: string;
  stream: Readable;
  /** Absent when nobody can know: standard input, a pipe. */
  bytes: number | undefined;
}

/** Opens a file, or standard input for `-`. */
export async function openInput(file: string): Promise<CatalogueInput> {
  if (file === '-') {
    return standardInput();
  }
  try {
    const handle = await open(file);
    const stats = await handle.stat();
    if (stats.isDirectory()) {
      await handle.close();
      throw new CommandFailure(`${file} is a folder, not a file.`);
    }
    const stream = handle.createReadStream({ highWaterMark: CHUNK_BYTES });
    return { name: file, stream, bytes: stats.isFile() ? stats.size : undefined };
  } catch (error) {
    throw error instanceof CommandFailure ? error : new CommandFailure(systemMessage('read', file, error));
  }
}

function standardInput(): CatalogueInput {
  const name = 'standard input';
  // Node reads nothing at all from a folder, and does not say so.
  const isFolder = fstatSync(STANDARD_INPUT).isDirectory();
  // Node looks up links by what it has last asked about: after a pipe it would load modules by other paths, and twice.
  statSync('/');
  if (isFolder) {
    throw new CommandFailure(`${name} is a folder, not a file.`);
  }
  if (process.stdin.isTTY) {
    throw new UsageError('a file is needed, or its content on standard input.');
  }
  return { name, stream: process.stdin, bytes: undefined };
}

/**
 * Reads an input to its end, or until the signal is aborted.
 * @param onBytes told of the bytes read so far and, at the end, that these were all
 * @throws CommandFailure when the system cannot read on
 */
export async function* readInput(
  { name, stream }: CatalogueInput,
  signal: AbortSignal,
  onBytes: (done: number, total?: number) => void,
): AsyncGenerator<Buffer> {
  let done = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Buffer>) {
      yield chunk;
      done += chunk.length;
      onBytes(done);
    }
  } catch (error) {
    const ofSystem = (error as NodeJS.ErrnoException).errno !== undefined;
    throw ofSystem ? new CommandFailure(systemMessage('read', name, error)) : error;
  }
  onBytes(done, done);
}
