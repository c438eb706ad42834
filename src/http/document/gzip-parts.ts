// This file makes one gzip file (RFC 1952) from parts that were compressed before, and from short texts between the
// parts.
import { promisify } from 'node:util';
import { type ZlibOptions, constants, crc32, deflateRaw } from 'node:zlib';

/**
 * Compresses a part. The result ends at a whole byte (`Z_FULL_FLUSH`) and is not marked as the end of the data, so that
 * other parts can follow in the same file.
 */
export function compressPart(part: Buffer): Promise<Buffer> {
  const options = { finishFlush: constants.Z_FULL_FLUSH };
  return promisify<Buffer, ZlibOptions, Buffer>(deflateRaw)(part, options);
}

/**
 * Returns a stored block (RFC 1951, section 3.2.4), which contains the content without compression.
 * @param isLast true if the data of the gzip file ends with this block
 */
export function storedBlock(content: Buffer, isLast = false): Buffer {
  const head = Buffer.from([isLast ? 1 : 0, 0, 0, 0, 0]);
  head.writeUInt16LE(content.length, 1);
  head.writeUInt16LE(content.length ^ 0xffff, 3);
  return Buffer.concat([head, content]);
}

/** A gzip header without a file name and a time (RFC 1952, section 2.3). */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/**
 * Returns the chunks of a gzip file.
 * @param compressed the content, as results of `compressPart` and `storedBlock`
 * @param plain the same content before compression, because a gzip file ends with the checksum and the length of this
 * content
 */
export function gzipFile(compressed: Buffer[], plain: Buffer[]): Buffer[] {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(plain.reduce((sum, chunk) => crc32(chunk, sum), 0));
  trailer.writeUInt32LE(byteLengthOf(plain), 4);
  return [HEADER, ...compressed, storedBlock(Buffer.alloc(0), true), trailer];
}

export function byteLengthOf(chunks: Buffer[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}
