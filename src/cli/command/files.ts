// Files that commands read and write, and standard input and output in their place.
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { type Readable, addAbortSignal } from 'node:stream';
import { problemOfPath } from '../../runtime/environment';
import { CommandFailure, UsageError, systemMessage } from './failure';

const CHUNK_BYTES = 256 * 1024;

export interface InputFile {
  /** For messages. */
  name: string;
  stream: Readable;
  /** Undefined for standard input and pipes. */
  bytes: number | undefined;
}

/**
 * A path that somebody typed.
 * @returns where it leads: a link is followed, also one to nothing yet
 * @throws UsageError if only a shell could tell, or if it is no place for files
 */
export async function typedPath(path: string): Promise<string> {
  const problem = problemOfPath(path);
  if (problem !== undefined) {
    throw new UsageError(`"${path}" is not ${problem}.`);
  }
  // What replaces a device replaces it for every program of the machine.
  if (/^\/(proc|dev(?!\/shm))(\/|$)/.test(resolve(path))) {
    throw new UsageError(`${path} is no place for files. Use - for standard input or output.`);
  }
  return followed(resolve(path));
}

async function followed(path: string, links = 0): Promise<string> {
  const target = await realpath(path).catch(() => undefined);
  if (target !== undefined) {
    return target;
  }
  const folder = await realpath(dirname(path)).catch(() => dirname(path));
  const link = await readlink(path).catch(() => undefined);
  return link === undefined || links > 40
    ? join(folder, basename(path))
    : followed(resolve(folder, link), links + 1);
}

/** Opens a file, or standard input for `-`. */
export async function openInput(file: string): Promise<InputFile> {
  if (file === '-') {
    return standardInput();
  }
  const problem = problemOfPath(file);
  if (problem !== undefined) {
    throw new UsageError(`"${file}" is not ${problem}.`);
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
  if (process.stdin.isTTY) {
    throw new UsageError('a file is needed, or its content on standard input.');
  }
  return { name: 'standard input', stream: process.stdin, bytes: undefined };
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

type Writing<Result> = (write: (text: string) => Promise<void>) => Promise<Result>;

/**
 * Writes a file that is complete, or not there.
 * @param file `-` for standard output
 */
export function writeFile<Result>(file: string, overwrite: boolean, work: Writing<Result>): Promise<Result> {
  return file === '-' ? writeStandardOutput(work) : writeNamedFile(file, overwrite, work);
}

function writeStandardOutput<Result>(work: Writing<Result>): Promise<Result> {
  return work((text) => {
    return new Promise((done, reject) => {
      writeOutput(text, (error) => (error ? reject(outputFailure(error)) : done()));
    });
  });
}

/**
 * Writes to a temporary file and moves it. Nobody can know its name before, and it is only created: in a folder that others
 * may write to, a file or link of theirs never receives the content.
 */
async function writeNamedFile<Result>(
  typed: string,
  overwrite: boolean,
  work: Writing<Result>,
): Promise<Result> {
  const file = await typedPath(typed);
  const stats = await stat(file).catch(() => undefined);
  if (stats !== undefined && !stats.isFile()) {
    throw new CommandFailure(`${file} is not a file. Use - for standard output.`);
  }
  if (stats !== undefined && !overwrite) {
    throw new CommandFailure(`${file} already exists; --force overwrites it.`);
  }
  const partial = `${file}.${randomBytes(6).toString('hex')}.partial`;
  const handle = await explained(file, open(partial, 'wx', stats?.mode));
  try {
    const result = await work((text) => explained(file, handle.writeFile(text)));
    await explained(file, handle.sync());
    await handle.close();
    await explained(file, rename(partial, file));
    return result;
  } finally {
    await handle.close();
    await rm(partial, { force: true });
  }
}

async function explained<Result>(file: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new CommandFailure(systemMessage('write', file, error));
  }
}

const STANDARD_OUTPUT = 1;

/** The output could not be written completely. */
export class OutputFailure extends CommandFailure {
  constructor(error: unknown) {
    super(systemMessage('write to', 'standard output', error));
  }
}

/** The reader closed the pipe (`petstore export | head`): it has what it wanted. */
class ReaderGone extends CommandFailure {
  constructor() {
    super('the reader closed the pipe.', { exitCode: 0 });
  }
}

export function outputFailure(error: NodeJS.ErrnoException): CommandFailure {
  const isReaderGone = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
  return isReaderGone ? new ReaderGone() : new OutputFailure(error);
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
