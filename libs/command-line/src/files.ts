import { randomBytes } from 'node:crypto';
import { createReadStream, writeFileSync } from 'node:fs';
import { open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { OperatorError, UsageError, PLAIN_PATH, isPlainPath } from '#libs/messages';
import { OutputFailure, systemMessage } from './failure';

const STANDARD_OUTPUT = 1;
const CHUNK_BYTES = 256 * 1024;

function assertPlainPath(path: string): void {
  if (!isPlainPath(path)) {
    throw new UsageError(`"${path}" is not ${PLAIN_PATH}.`);
  }
}

/** Resolves a path that an operator has typed. A symbolic link is followed, even if its target does not exist yet. */
export async function typedPath(path: string): Promise<string> {
  assertPlainPath(path);
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new OperatorError(systemMessage('open', path, error));
    }
  }
  const target = await readlink(path).catch(() => undefined);
  return target === undefined ? resolve(path) : typedPath(resolve(await realpath(dirname(path)), target));
}

/**
 * Reads a file, or standard input for `-`.
 * @param onBytes called with the number of bytes read so far and the size of the file, which is 0 for standard input
 * @throws OperatorError if reading fails
 */
export async function* readInput(
  file: string,
  signal: AbortSignal,
  onBytes: (done: number, total: number) => void,
): AsyncGenerator<Buffer> {
  assertPlainPath(file);
  const isStandardInput = file === '-';
  if (isStandardInput && process.stdin.isTTY) {
    throw new UsageError('name a file, or send its content to standard input.');
  }
  const name = isStandardInput ? 'standard input' : file;
  let done = 0;
  try {
    const total = isStandardInput ? 0 : (await stat(file)).size;
    const stream = isStandardInput ? process.stdin : createReadStream(file, { highWaterMark: CHUNK_BYTES });
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Buffer>) {
      yield chunk;
      done += chunk.length;
      onBytes(done, total);
    }
  } catch (error) {
    const isOfSystem = (error as NodeJS.ErrnoException).errno !== undefined;
    throw isOfSystem ? new OperatorError(systemMessage('read', name, error)) : error;
  }
}

/**
 * Writes a file that appears only when it is complete: the content goes to a temporary file, which is renamed at the
 * end.
 * @param path `-` for standard output
 */
export async function writeFile(
  path: string,
  overwrite: boolean,
  work: (write: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  if (path === '-') {
    return work((text) => {
      writeOutput(text);
      return outputIsWritten();
    });
  }
  const stats = await stat(path).catch(() => undefined);
  if (stats !== undefined && !stats.isFile()) {
    throw new OperatorError(`${resolve(path)} is not a file. Use - for standard output.`);
  }
  const file = await typedPath(path);
  if (stats !== undefined && !overwrite) {
    throw new OperatorError(`${file} already exists; --force overwrites it.`);
  }
  const explained = <Value>(writing: Promise<Value>): Promise<Value> =>
    writing.catch((error: unknown) => {
      throw new OperatorError(systemMessage('write', file, error));
    });
  const partial = `${file}.${randomBytes(6).toString('hex')}.partial`;
  const handle = await explained(open(partial, 'wx', stats?.mode));
  try {
    await work((text) => explained(handle.writeFile(text)));
    await explained(handle.sync());
    await handle.close();
    await explained(rename(partial, file));
  } finally {
    await handle.close();
    await rm(partial, { force: true });
  }
}

/**
 * Writes to standard output.
 * @throws OutputFailure if standard output is a file that cannot be written completely
 */
export function writeOutput(content: string): void {
  // For terminals and pipes, Node itself handles partial writes and errors.
  if (process.stdout instanceof Socket) {
    process.stdout.write(content);
    return;
  }
  try {
    // `writeFileSync` goes on until everything is written or an error occurs. A single write to a disk that is almost
    // full could write only a part of the content and report no error.
    writeFileSync(STANDARD_OUTPUT, content);
  } catch (error) {
    throw new OutputFailure(error as Error);
  }
}

/**
 * Resolves when all output is written. Await this function before the process ends, because output that is not written
 * by then would be lost.
 * @throws OutputFailure if nobody reads the pipe
 */
export function outputIsWritten(): Promise<void> {
  return new Promise((done, reject) => {
    process.stdout.write('', (error) => (error ? reject(new OutputFailure(error)) : done()));
  });
}
