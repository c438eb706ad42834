// The part of the tar format (POSIX ustar) that an archive needs: plain files with short names. A reader of everything that
// tar can say would have to keep extended headers of any size, and would have to be told not to follow links.

const BLOCK = 512;
const MAX_NAME = 100;
const PLAIN_FILE = '0'.charCodeAt(0);
const CHECKSUM = { from: 148, to: 156 };

/** The end of an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** The bytes are not an archive, or not all of one. The message has no full stop. */
export class DamagedArchiveError extends Error {}

export interface TarEntry {
  name: string;
  bytes: number;
  /** What the caller does not read is skipped. */
  content: AsyncIterable<Buffer>;
}

/** @param name at most 100 ASCII characters */
export function* tarEntry(name: string, content: Buffer): Generator<Buffer> {
  const header = Buffer.alloc(BLOCK);
  if (header.write(name, 'latin1') !== name.length || name.length > MAX_NAME) {
    throw new Error(`${name} is too long for the name of an entry`);
  }
  const octal = (value: number, at: number, length: number) =>
    header.write(value.toString(8).padStart(length - 1, '0'), at);
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(0, 136, 12);
  header[156] = PLAIN_FILE;
  header.write('ustar\x0000', 257);
  octal(checksumOf(header), CHECKSUM.from, 7);
  header.write('\x00 ', 154);
  yield header;
  yield content;
  yield Buffer.alloc(paddingOf(content.length));
}

/**
 * Reads entries up to the end of the source.
 * @throws DamagedArchiveError for everything that `tarEntry` does not write; errors of the source
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry, void> {
  const bytes = new ByteReader(source);
  try {
    for (;;) {
      const header = await bytes.read(BLOCK);
      if (isBlank(header)) {
        break;
      }
      const { name, size } = readHeader(header);
      const content = bytes.take(size);
      yield { name, bytes: size, content };
      await discard(content);
      await discard(bytes.take(paddingOf(size)));
    }
    for await (const chunk of bytes.takeAll()) {
      if (!isBlank(chunk)) {
        throw new DamagedArchiveError('it has data after its end');
      }
    }
  } finally {
    await bytes.close();
  }
}

function readHeader(header: Buffer): { name: string; size: number } {
  const text = (from: number, to: number) => header.toString('latin1', from, to).split('\0', 1)[0]!;
  const name = text(0, MAX_NAME);
  const checksum = text(CHECKSUM.from, CHECKSUM.to);
  if (header.toString('latin1', 257, 262) !== 'ustar' || parseInt(checksum, 8) !== checksumOf(header)) {
    throw new DamagedArchiveError('it is not an archive');
  }
  const size = text(124, 136);
  const isPlain = header[156] === PLAIN_FILE && text(345, 500) === '' && /^[0-7]{11}$/.test(size);
  if (!isPlain) {
    throw new DamagedArchiveError(`${JSON.stringify(name)} is not a plain file`);
  }
  return { name, size: parseInt(size, 8) };
}

/** The field of the checksum counts as spaces. */
function checksumOf(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= CHECKSUM.from && at < CHECKSUM.to ? 0x20 : byte), 0);
}

function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

async function discard(chunks: AsyncIterable<Buffer>): Promise<void> {
  for await (const _chunk of chunks);
}

/** Takes exact numbers of bytes from a stream of chunks. */
class ByteReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.chunks = source[Symbol.asyncIterator]();
  }

  async read(bytes: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.take(bytes)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** @throws DamagedArchiveError if the source ends before */
  async *take(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      if (this.rest.length === 0 && !(await this.fill())) {
        throw new DamagedArchiveError('its end is missing');
      }
      const chunk = this.rest.subarray(0, left);
      this.rest = this.rest.subarray(chunk.length);
      left -= chunk.length;
      yield chunk;
    }
  }

  async *takeAll(): AsyncGenerator<Buffer> {
    for (; this.rest.length > 0 || (await this.fill()); this.rest = Buffer.alloc(0)) yield this.rest;
  }

  /** Tells the source that no more is needed. */
  async close(): Promise<void> {
    await this.chunks.return?.();
  }

  private async fill(): Promise<boolean> {
    const result = await this.chunks.next();
    this.rest = result.done ? Buffer.alloc(0) : result.value;
    return !result.done;
  }
}
