// Serves pages and documents. All callers get the same buffers, which are compressed once. The service's address, as the
// caller sees it, is inserted between the buffers.
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type ZlibOptions, constants, crc32, deflateRaw } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { JSON_TYPE, entityTag, isNotModified } from '#libs/http';

/**
 * The placeholder for the service's address in documents and pages. Each response contains the address at which the caller
 * reached the service instead.
 */
export const SHOWN_ADDRESS = 'http://127.0.0.1:3000';

const HOST = /^([a-z0-9._~-]+|\[[0-9a-f:.]+\])(:[0-9]{0,5})?$/i;

/**
 * Returns the address at which the caller reached the service. If `Host` is invalid, the address is 127.0.0.1 with the port
 * of the connection.
 */
function addressOf(request: FastifyRequest): string {
  const { protocol, host, prefix, socket } = request;
  const named = `${protocol === 'https' ? 'https' : 'http'}://${host}`;
  const isHost = HOST.test(host) && URL.canParse(named);
  return (isHost ? new URL(named).origin : `http://127.0.0.1:${socket.localPort}`) + prefix;
}

/**
 * Returns the relative path from a page to the root of the service, for example `../`. Links begin with this path because
 * the service may be below a prefix.
 */
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

/** How many variants of a document are cached: one for each address at which callers reach the service. */
const MAX_ADDRESSES = 8;

/** The header of gzip data without a file name and a time (RFC 1952, section 2.3). */
const GZIP_START = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** Returns a block of `deflate` data that contains the content uncompressed (RFC 1951, section 3.2.4). */
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

interface Body {
  pieces: Buffer[];
  length: number;
  tag: string;
}

interface Content {
  digest: string;
  hasAddress: boolean;
  /** Returns the content with the address inserted between its parts. */
  at(address: string): Record<'plain' | 'compressed', Body>;
}

/**
 * Compresses each part once. Otherwise a caller could cause a compression with every request by sending a different `Host`
 * each time.
 * @param parts the content, split where the address of the service belongs
 */
async function prepare(parts: Buffer[]): Promise<Content> {
  // A full flush ends each part at a whole byte, and no part refers to bytes before itself. So the compressed parts can be
  // joined in any way.
  const options = { finishFlush: constants.Z_FULL_FLUSH };
  const compressedParts: Buffer[] = await Promise.all(
    parts.map((part) => promisify<Buffer, ZlibOptions, Buffer>(deflateRaw)(part, options)),
  );
  const digest = entityTag(Buffer.concat(parts)).slice(1, -1);
  const at = (address: string) => {
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
  return { digest, hasAddress: parts.length > 1, at };
}

export interface PageFile {
  path: string;
  /** Returns the path with the digest of the file in it. Caches keep the file under this path for ever. */
  digestPath(): Promise<string>;
}

/** Turns `/docs/guide.css` into `/docs/guide.<digest>.css`. */
function withDigest(path: string, digest: string): string {
  return path.replace(/(?=\.\w+$)/, `.${digest}`);
}

export function withoutDigest(path: string): string {
  return path.replace(/\.[\w-]{22}(?=\.\w+$)/, '');
}

/**
 * Serves a text. In a response, the address at which the caller reached the service replaces SHOWN_ADDRESS.
 * @param files the files to which the text links; the links in the response contain the digests of these files
 */
export function serveText(
  pages: FastifyInstance,
  path: string,
  write: () => string | Promise<string>,
  files: PageFile[] = [],
): void {
  serve(pages, [path], async () => {
    let text = await write();
    for (const file of files) {
      text = text.replaceAll(`${file.path.slice(1)}"`, `${(await file.digestPath()).slice(1)}"`);
    }
    return text.split(SHOWN_ADDRESS).map((part) => Buffer.from(part));
  });
}

/**
 * Serves a file under its path, and under its path with any digest: while instances of two versions run, a browser may get
 * a page from one version and request the file from the other version. Caches keep the file for ever only under its own
 * digest.
 */
export function serveFile(
  pages: FastifyInstance,
  path: string,
  read: () => Buffer | string | Promise<Buffer>,
): PageFile {
  const content = serve(pages, [path, withDigest(path, ':digest')], async () => [Buffer.from(await read())]);
  return { path, digestPath: async () => withDigest(path, (await content()).digest) };
}

/**
 * Answers GET and HEAD requests for the paths, with 304 if the caller has the current content.
 * @returns a function that returns the content, which is read at the first call
 */
function serve(
  pages: FastifyInstance,
  paths: string[],
  read: () => Promise<Buffer[]>,
): () => Promise<Content> {
  let preparing: Promise<Content> | undefined;
  const content = () => (preparing ??= read().then(prepare));
  const fetchMethod = async (address: string) => (await content()).at(address);
  const bodies = new LRUCache({ max: MAX_ADDRESSES, fetchMethod, ignoreFetchAbort: true });
  const type = TYPES[extname(paths[0]!)]!;
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { 'accept-encoding': accepted = '' } = request.headers;
    const isCompressed = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(accepted);
    const { hasAddress, digest } = await content();
    const address = hasAddress ? addressOf(request) : '';
    const body = await bodies.fetch(type === HTML ? escaped(address) : address);
    const { pieces, tag, length } = body![isCompressed ? 'compressed' : 'plain'];
    const isHeld = isNotModified(request.headers, tag);
    const isNamedByDigest = (request.params as { digest?: string }).digest === digest;
    void reply.headers({
      ETag: tag,
      // Caches revalidate the content after five minutes, except a file under the name with its digest: another content
      // would have another name. A shared cache may not keep a text that contains the caller's address of the service,
      // because the next caller may use another address.
      'Cache-Control': isNamedByDigest
        ? 'public, max-age=31536000, immutable'
        : `${hasAddress ? 'private' : 'public'}, max-age=300`,
      Vary: 'Origin, Accept-Encoding',
      ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
    });
    if (isHeld) {
      return reply.status(304).send();
    }
    // All responses share these buffers, so that a caller who reads slowly causes no copy in memory.
    return reply.type(type).header('Content-Length', length).send(Readable.from(pieces));
  };
  paths.forEach((path) => pages.get(path, answer));
  return content;
}
