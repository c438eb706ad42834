import { fstatSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Readable, addAbortSignal } from 'node:stream';
import { CommandFailure, systemMessage, UsageError } from './command-failure';

const CHUNK_BYTES = 256 * 1024;
const STANDARD_INPUT = 0;

export interface InputFile {
  /** For messages. */
  name: string;
  stream: Readable;
  /** Undefined for standard input and pipes. */
  bytes: number | undefined;
}

/** Opens a file, or standard input for `-`. */
export async function openInput(file: string): Promise<InputFile> {
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

function standardInput(): InputFile {
  const name = 'standard input';
  // Node reads a folder as empty, without an error.
  const isFolder = fstatSync(STANDARD_INPUT).isDirectory();
  // Works around a Node bug: after fstat of a pipe it would resolve links differently and load modules twice.
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
 * Reads an input until its end or an abort.
 * @param onBytes called with the bytes read so far and, at the end, with the total
 * @throws CommandFailure if reading fails
 */
export async function* readInput(
  { name, stream }: InputFile,
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
