import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { CommandFailure, systemMessage } from './command-failure';
import { OutputFailure, isReaderGone, writeOutput } from './standard-output';

/** Where a catalogue or a backup is written to. */
export interface CatalogueOutput {
  write(content: string | Buffer): Promise<void>;
  /** All of it was written. */
  complete(): Promise<void>;
  /** It will not be complete: what there is of it goes away, if it can. */
  abandon(): Promise<void>;
}

/** Whoever read the output has had enough of it (`petstore export | head`). */
export class ReaderGoneError extends Error {}

/**
 * @param file `-` for standard output
 * @param mode who may read and write a new file, before the umask
 */
export function openOutput(file: string, overwrite: boolean, mode?: number): Promise<CatalogueOutput> {
  return file === '-' ? Promise.resolve(new StandardOutput()) : FileOutput.open(file, overwrite, mode);
}

class StandardOutput implements CatalogueOutput {
  // The error is told to each write as well. Unheard, it would end the process before the database is closed.
  private readonly heard = () => undefined;

  constructor() {
    process.stdout.on('error', this.heard);
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
    process.stdout.removeListener('error', this.heard);
    return Promise.resolve();
  }
}

function explainedOutput(error: Error): Error {
  return isReaderGone(error) ? new ReaderGoneError() : new OutputFailure(error);
}

/** Written beside the file and put in its place when complete, so that the file is never half there. */
class FileOutput implements CatalogueOutput {
  private constructor(
    private readonly file: string,
    private readonly partial: string,
    private readonly handle: FileHandle,
    private readonly overwrite: boolean,
  ) {}

  static async open(file: string, overwrite: boolean, mode?: number): Promise<FileOutput> {
    await assertFree(file, overwrite);
    const partial = `${file}.${process.pid}.partial`;
    const handle = await explained(file, open(partial, 'w', mode));
    return new FileOutput(file, partial, handle, overwrite);
  }

  write(content: string | Buffer): Promise<void> {
    return explained(this.file, this.handle.writeFile(content));
  }

  async complete(): Promise<void> {
    await explained(this.file, this.handle.sync());
    await this.handle.close();
    // Somebody may have written the file in the meantime.
    await assertFree(this.file, this.overwrite);
    await explained(this.file, rename(this.partial, this.file));
  }

  async abandon(): Promise<void> {
    await this.handle.close();
    await rm(this.partial, { force: true });
  }
}

async function assertFree(file: string, overwrite: boolean): Promise<void> {
  const stats = await stat(file).catch(() => undefined);
  if (stats !== undefined && !stats.isFile()) {
    throw new CommandFailure(`${file} is not a file. Omit it to write to standard output.`);
  }
  if (stats !== undefined && !overwrite) {
    throw new CommandFailure(`${file} already exists; --force overwrites it.`);
  }
}

async function explained<Result>(file: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new CommandFailure(systemMessage('write', file, error));
  }
}
