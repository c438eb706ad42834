// Files that commands read and write, and standard input and output in their place.
import { randomBytes } from 'node:crypto';
import { type Stats, fstatSync, statSync } from 'node:fs';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { type Readable, addAbortSignal } from 'node:stream';
import { OutputFailure, isReaderGone, writeOutput } from '../output/standard-output';
import { CommandFailure, UsageError, systemMessage } from './failure';

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

/** While it is written. */
const OWNER_ONLY = 0o600;
const EVERYONE = 0o666;

interface Replacing {
  overwrite: boolean;
  /** Who may read and write a new file, before the umask; and at most, one that replaces another. */
  mode?: number;
}

type Writing<Result> = (write: (content: string | Buffer) => Promise<void>) => Promise<Result>;

/** The reader closed the pipe (`petstore export | head`). */
export class ReaderGoneError extends CommandFailure {
  constructor() {
    super('the reader closed the pipe; the output is not complete.');
  }
}

/**
 * Writes a file that is complete, or not there.
 * @param file `-` for standard output
 */
export function writeFile<Result>(file: string, how: Replacing, work: Writing<Result>): Promise<Result> {
  return file === '-' ? writeStandardOutput(work) : writeNamedFile(file, how, work);
}

async function writeStandardOutput<Result>(work: Writing<Result>): Promise<Result> {
  // Each write gets the error too. Without a listener it would end the process before the database is closed.
  const ignoreError = () => undefined;
  process.stdout.on('error', ignoreError);
  const explainedOutput = (error: Error) =>
    isReaderGone(error) ? new ReaderGoneError() : new OutputFailure(error);
  try {
    return await work((content) => {
      return new Promise((resolve, reject) => {
        writeOutput(content, (error) => (error ? reject(explainedOutput(error)) : resolve()));
      });
    });
  } finally {
    process.stdout.removeListener('error', ignoreError);
  }
}

/**
 * Writes to a temporary file and moves it, so that the file is never incomplete. Nobody can know its name before, and it is
 * only created: in a folder that others may write to, a file or link of theirs never receives the content.
 */
async function writeNamedFile<Result>(
  file: string,
  { overwrite, mode = EVERYONE }: Replacing,
  work: Writing<Result>,
): Promise<Result> {
  await replaceable(file, overwrite);
  const partial = `${file}.${randomBytes(6).toString('hex')}.partial`;
  const handle = await explained(file, open(partial, 'wx', OWNER_ONLY));
  try {
    const result = await work((content) => explained(file, handle.writeFile(content)));
    // Looked up again: it may have been created in the meantime.
    const replaced = await replaceable(file, overwrite);
    // Who could not read the file before should not be able to now.
    await explained(file, handle.chmod(mode & (replaced?.mode ?? ~process.umask())));
    await explained(file, handle.sync());
    await handle.close();
    await (overwrite ? explained(file, rename(partial, file)) : moveToFreeName(partial, file));
    return result;
  } finally {
    await handle.close();
    await rm(partial, { force: true });
  }
}

/** Unlike a rename, a link never replaces a file. */
async function moveToFreeName(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw alreadyExists(file);
    }
    // Some file systems have no links.
    await explained(file, rename(partial, file));
  }
}

/**
 * @returns the file that would be replaced, if there is one
 * @throws CommandFailure if it must not be
 */
async function replaceable(file: string, overwrite: boolean): Promise<Stats | undefined> {
  const stats = await stat(file).catch(() => undefined);
  if (stats !== undefined && !stats.isFile()) {
    throw new CommandFailure(`${file} is not a file. Use - for standard output.`);
  }
  if (stats !== undefined && !overwrite) {
    throw alreadyExists(file);
  }
  return stats;
}

function alreadyExists(file: string): CommandFailure {
  return new CommandFailure(`${file} already exists; --force overwrites it.`);
}

async function explained<Result>(file: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new CommandFailure(systemMessage('write', file, error));
  }
}
