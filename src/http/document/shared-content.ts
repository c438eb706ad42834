// What is served besides operations. All callers get the same buffers, compressed once, with their address between the buffers.
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type ZlibOptions, constants, crc32, deflateRaw } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { JSON_TYPE, entityTag, isNotModified } from '#libs/http';

/** The address in the texts that are served; each caller sees the one that it used instead. */
export const SHOWN_ADDRESS = 'http://127.0.0.1:3000';

const HOST = /^([a-z0-9._~-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$/i;

/** Where the caller reached the service; a `Host` that is none is replaced by the address of the connection. */
function addressOf(request: FastifyRequest): string {
  const { protocol, host, prefix, socket } = request;
  const named = `${protocol === 'https' ? 'https' : 'http'}://${host}`;
  const isHost = HOST.test(host) && URL.canParse(named);
  return (isHost ? new URL(named).origin : `http://127.0.0.1:${socket.localPort}`) + prefix;
}

/** The way from a page to the root of the service, which may have a prefix: links of pages are relative to it. */
export function rootFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 2) || './';
}

export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

export const HTML = 'text/html; charset=utf-8';
const TYPES: Record<string, string> = {
  '': HTML,
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': JSON_TYPE,
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.yaml': 'text/yaml; charset=utf-8',
};

/** For how many addresses the prepared content is kept. */
const MAX_ADDRESSES = 8;

/** The header of gzip data without a name and a time (RFC 1952, section 2.3). */
const GZIP_START = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** A block of `deflate` that is not compressed (RFC 1951, section 3.2.4). */
function storedBlock(content: Buffer, isLast: boolean): Buffer {
  const head = Buffer.from([isLast ? 1 : 0, 0, 0, 0, 0]);
  head.writeUInt16LE(content.length, 1);
  head.writeUInt16LE(content.length ^ 0xffff, 3);
  return Buffer.concat([head, content]);
}

function gzipEnd(content: Buffer[]): Buffer {
  const end = Buffer.alloc(8);
  end.writeUInt32LE(content.reduce((sum, one) => crc32(one, sum), 0));
  end.writeUInt32LE(
    content.reduce((sum, one) => sum + one.length, 0),
    4,
  );
  return Buffer.concat([storedBlock(Buffer.alloc(0), true), end]);
}

interface Content {
  plain: Body;
  compressed: Body;
}

interface Body {
  pieces: Buffer[];
  length: number;
  tag: string;
}

/**
 * Compresses each part once: otherwise a caller could cause a compression with every request, by a new `Host` each time.
 * @param parts between which the address stands
 * @returns what callers at an address get
 */
async function prepare(parts: Buffer[]): Promise<(address: string) => Content> {
  // Each part ends at a whole byte, and refers to nothing before itself.
  const options = { finishFlush: constants.Z_FULL_FLUSH };
  const compressedParts: Buffer[] = await Promise.all(
    parts.map((part) => promisify<Buffer, ZlibOptions, Buffer>(deflateRaw)(part, options)),
  );
  const digest = entityTag(Buffer.concat(parts));
  return (address) => {
    const text = Buffer.from(address);
    const put = (between: Buffer, all: Buffer[]) =>
      all.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
    const plain = put(text, parts);
    const compressed = [GZIP_START, ...put(storedBlock(text, false), compressedParts), gzipEnd(plain)];
    const bodyOf = (pieces: Buffer[], encoding: string): Body => ({
      pieces,
      length: pieces.reduce((sum, { length }) => sum + length, 0),
      tag: entityTag(`${digest} ${encoding} ${address}`),
    });
    return { plain: bodyOf(plain, ''), compressed: bodyOf(compressed, 'gzip') };
  };
}

/**
 * Answers GET and HEAD of the path; 304 for a client that has the response.
 * @param write what is served; callers see the address at which they reached the service instead of SHOWN_ADDRESS
 * @param isFile everybody gets the same
 */
export function serveContent(
  pages: FastifyInstance,
  path: string,
  write: () => string | Promise<string | Buffer>,
  { isFile = false } = {},
): void {
  const read = async () => {
    const written = await write();
    const parts = isFile ? [written] : String(written).split(SHOWN_ADDRESS);
    return prepare(parts.map((part) => Buffer.from(part)));
  };
  let reading: ReturnType<typeof read> | undefined;
  const fetchMethod = async (address: string) => (await (reading ??= read()))(address);
  const contents = new LRUCache({ max: MAX_ADDRESSES, fetchMethod, ignoreFetchAbort: true });
  pages.get(path, async (request, reply) => {
    const { 'accept-encoding': accepted = '' } = request.headers;
    const isCompressed = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(accepted);
    const address = isFile ? '' : addressOf(request);
    const content = await contents.fetch(TYPES[extname(path)] === HTML ? escaped(address) : address);
    const { pieces, tag, length } = content![isCompressed ? 'compressed' : 'plain'];
    const isHeld = isNotModified(request.headers, tag);
    void reply.headers({
      ETag: tag,
      // A copy is revalidated after five minutes. No shared cache keeps an address: the next caller may use another one.
      'Cache-Control': `${isFile ? 'public' : 'private'}, max-age=300`,
      Vary: 'Origin, Accept-Encoding',
      ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
    });
    if (isHeld) {
      return reply.status(304).send();
    }
    // All responses share the pieces, so that a caller who reads slowly takes no memory for a copy.
    return reply.type(TYPES[extname(path)]!).header('Content-Length', length).send(Readable.from(pieces));
  });
}
