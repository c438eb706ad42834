import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { UsageError } from './command';
import { CommandFailure } from './command-failure';
import { systemMessage } from './system-message';

/** How much of a file is read at once. */
const CHUNK_BYTES = 256 * 1024;

export interface CatalogueInput {
  stream: Readable;
  /** Absent when nobody can know: standard input, a pipe. */
  bytes: number | undefined;
}

/** Opens a file, or standard input for `-`. */
export async function openInput(file: string): Promise<CatalogueInput> {
  if (file === '-') {
    if (process.stdin.isTTY) {
      throw new UsageError('import takes a file, or the catalogue on standard input.');
    }
    return { stream: process.stdin, bytes: undefined };
  }
  try {
    const handle = await open(file);
    const stats = await handle.stat();
    if (stats.isDirectory()) {
      await handle.close();
      throw new CommandFailure(`${file} is a folder and not a file.`);
    }
    const stream = handle.createReadStream({ highWaterMark: CHUNK_BYTES });
    return { stream, bytes: stats.isFile() ? stats.size : undefined };
  } catch (error) {
    throw error instanceof CommandFailure ? error : new CommandFailure(systemMessage('read', file, error));
  }
}
