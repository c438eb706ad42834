import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import type { BackedUpFile } from './manifest';

/** Compresses about a quarter as fast as a disk writes; higher levels take several times as long for a few percent. */
const COMPRESSION = 1;

/** Receives the bytes of the archive in order. */
export type Write = (chunk: Buffer) => Promise<void>;

/** Writes a gzipped tar archive and records its content. */
export class ArchiveWriter {
  readonly files: BackedUpFile[] = [];
  private readonly archive: Pack = pack();
  private readonly written: Promise<void>;

  constructor(write: Write, signal: AbortSignal | undefined) {
    this.written = pipeline(
      this.archive,
      createGzip({ level: COMPRESSION }),
      async (source: AsyncIterable<Buffer>) => {
        for await (const chunk of source) await write(chunk);
      },
      { signal },
    );
    // After a failed write, adding the next entry must fail, too.
    this.written.catch((error: Error) => this.archive.destroy(error));
  }

  addFolder(name: string): Promise<void> {
    return this.add({ name, type: 'directory', mode: 0o700 }, []);
  }

  /** @param chunks exactly `bytes` of them */
  async addFile(path: string, bytes: number, chunks: AsyncIterable<Buffer> | Buffer[]): Promise<void> {
    const hash = createHash('sha256');
    const hashed = async function* () {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await this.add({ name: path, size: bytes, mode: 0o600 }, hashed());
    this.files.push({ path, bytes, sha256: hash.digest('hex') });
  }

  async addText(path: string, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    await this.addFile(path, bytes.length, [bytes]);
  }

  /** Ends the archive; resolves once it is written completely. */
  async end(): Promise<void> {
    this.archive.finalize();
    await this.written;
  }

  /** Aborts the archive. Resolves once nothing is written any more. */
  async abandon(): Promise<void> {
    this.archive.destroy();
    await this.written.catch(() => undefined);
  }

  /** @throws the error that prevented the archive from being written */
  private async add(
    header: Parameters<Pack['entry']>[0],
    chunks: AsyncIterable<Buffer> | Buffer[],
  ): Promise<void> {
    const { promise: added, settle } = deferred();
    const entry = this.archive.entry(header, settle);
    // `settle` is called as well; an error without a listener would end the process.
    entry.on('error', () => undefined);
    for await (const chunk of chunks) {
      if (!entry.write(chunk)) await Promise.race([once(entry, 'drain'), added]);
    }
    entry.end();
    await added;
  }
}

function deferred(): { promise: Promise<void>; settle: (error?: Error | null) => void } {
  let settle!: (error?: Error | null) => void;
  const promise = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  // Prevents an unhandled rejection; callers still get it when they await the promise.
  promise.catch(() => undefined);
  return { promise, settle };
}
