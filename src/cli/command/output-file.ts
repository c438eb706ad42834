import { randomBytes } from 'node:crypto';
import { type Stats } from 'node:fs';
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { CommandFailure, systemMessage } from './command-failure';
import { OutputFailure, isReaderGone, writeOutput } from '../output/standard-output';

/** While it is written. */
const OWNER_ONLY = 0o600;
const EVERYONE = 0o666;

/** A file or standard output. */
export interface OutputFile {
  write(content: string | Buffer): Promise<void>;
  /** Call when everything is written. */
  complete(): Promise<void>;
  /** Call on failure; removes a partial file. */
  abandon(): Promise<void>;
}

/** The reader closed the pipe (`petstore export | head`). */
export class ReaderGoneError extends Error {}

/**
 * @param file `-` for standard output
 * @param mode who may read and write a new file, before the umask; and at most, one that replaces another
 */
export function openOutput(file: string, overwrite: boolean, mode = EVERYONE): Promise<OutputFile> {
  return file === '-' ? Promise.resolve(new StandardOutput()) : FileOutput.open(file, overwrite, mode);
}

class StandardOutput implements OutputFile {
  // Each write gets the error too. Without a listener it would end the process before the database is closed.
  private readonly ignoreError = () => undefined;

  constructor() {
    process.stdout.on('error', this.ignoreError);
  }

  write(content: string | Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      writeOutput(content, (error) => (error ? reject(explainedOutput(error)) : resolve()));
    });
  }

  complete(): Promise<void> {
    return this.abandon();
  }

  abandon(): Promise<void> {
    process.stdout.removeListener('error', this.ignoreError);
    return Promise.resolve();
  }
}

function explainedOutput(error: Error): Error {
  return isReaderGone(error) ? new ReaderGoneError() : new OutputFailure(error);
}

/**
 * Writes to a temporary file and moves it, so that the file is never incomplete. Nobody can know its name before, and it is
 * only created: in a folder that others may write to, a file or link of theirs never receives the content.
 */
class FileOutput implements OutputFile {
  private constructor(
    private readonly file: string,
    private readonly partial: string,
    private readonly handle: FileHandle,
    private readonly options: { overwrite: boolean; mode: number },
  ) {}

  static async open(file: string, overwrite: boolean, mode: number): Promise<FileOutput> {
    await replaceable(file, overwrite);
    const partial = `${file}.${randomBytes(6).toString('hex')}.partial`;
    const handle = await explained(file, open(partial, 'wx', OWNER_ONLY));
    return new FileOutput(file, partial, handle, { overwrite, mode });
  }

  write(content: string | Buffer): Promise<void> {
    return explained(this.file, this.handle.writeFile(content));
  }

  async complete(): Promise<void> {
    const { overwrite, mode } = this.options;
    // Looked up again: it may have been created in the meantime.
    const replaced = await replaceable(this.file, overwrite);
    // Who could not read the file before should not be able to now.
    await explained(this.file, this.handle.chmod(mode & (replaced?.mode ?? ~process.umask())));
    await explained(this.file, this.handle.sync());
    await this.handle.close();
    await (overwrite ? explained(this.file, rename(this.partial, this.file)) : this.moveToFreeName());
  }

  /** Unlike a rename, a link never replaces a file. */
  private async moveToFreeName(): Promise<void> {
    try {
      await link(this.partial, this.file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
        throw alreadyExists(this.file);
      }
      // Some file systems have no links.
      await explained(this.file, rename(this.partial, this.file));
    }
    await rm(this.partial, { force: true });
  }

  async abandon(): Promise<void> {
    await this.handle.close();
    await rm(this.partial, { force: true });
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
