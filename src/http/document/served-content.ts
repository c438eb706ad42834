// This file serves pages and documents that contain the address of the service, which differs between callers.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { JSON_TYPE, applyReadConditions, entityTag } from '#libs/http';
import { byteLengthOf, compressPart, gzipFile, storedBlock } from './gzip-parts';

/**
 * Stands for the service's address in stored documents and pages. Each response replaces this text by the address that
 * the caller used.
 */
export const ADDRESS_PLACEHOLDER = 'http://127.0.0.1:3000';

const HOST = /^([a-z0-9._~-]+|\[[0-9a-f:.]+\])(:[0-9]{0,5})?$/i;

/**
 * Returns the address to which the caller sent the request. If the header `Host` is invalid, returns 127.0.0.1 with the
 * port of the connection.
 */
function addressOf(request: FastifyRequest): string {
  const { protocol, host, prefix, socket } = request;
  const named = `${protocol.toLowerCase() === 'https' ? 'https' : 'http'}://${host}`;
  const isHost = HOST.test(host) && URL.canParse(named);
  return (isHost ? new URL(named).origin : `http://127.0.0.1:${socket.localPort}`) + prefix;
}

/**
 * Returns the relative path from a page to the root of the service, for example `../`. Links with this path also work
 * if a proxy adds a path prefix.
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
  '.md': 'text/markdown; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': JSON_TYPE,
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.yaml': 'text/yaml; charset=utf-8',
};

/** Maximum number of cached variants of a document, one for each address of the service that callers use. */
const MAX_ADDRESSES = 8;

const GZIP = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i;
const BROTLI = /\bbr\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i;

interface Content {
  digest: string;
  hasAddress: boolean;
  /**
   * Returns the content with this address of the service in each encoding: uncompressed (`identity`), gzip and, for
   * files only, Brotli (`br`). A response sends the chunks of one encoding one after the other.
   */
  chunksFor(address: string): Record<'identity' | 'gzip', Buffer[]> & { br?: Buffer[] };
}

interface Source {
  /** The content, cut at each place where the address of the service has to be inserted. */
  parts: Buffer[];
  /** The whole content, compressed with Brotli when the service was built. */
  brotli?: Buffer;
}

/** The root folder of the project: three levels above the sources, and four above the compiled files in `dist`. */
export const ROOT = ['../../..', '../../../..']
  .map((way) => join(__dirname, way))
  .find((folder) => existsSync(join(folder, 'package.json')))!;

/** Reads a file that pages load. The build has collected and compressed these files. */
export async function readPageFile(name: string): Promise<Source> {
  const [content, brotli] = await Promise.all(
    [name, `${name}.br`].map((file) => readFile(join(ROOT, 'dist/browser', file))),
  );
  return { parts: [content!], brotli: brotli! };
}

/**
 * Compresses each part of the content once with gzip. When a response is made, the service's address, which depends on the
 * `Host` of the request, is put between the compressed parts as an uncompressed block, which gzip allows. Compressing the
 * whole content anew for each address would be too expensive: a caller may send any `Host`, and no limit stops the caller,
 * because requests for pages are not counted. Content with an address is not sent with Brotli, because parts that Brotli has
 * compressed separately cannot be joined in this way.
 */
async function prepare({ parts, brotli }: Source): Promise<Content> {
  const compressedParts = await Promise.all(parts.map(compressPart));
  const digest = entityTag(Buffer.concat(parts)).slice(1, -1);
  const chunksFor = (address: string) => {
    const text = Buffer.from(address);
    const put = (between: Buffer, all: Buffer[]) =>
      all.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
    const identity = put(text, parts);
    const gzip = gzipFile(put(storedBlock(text), compressedParts), identity);
    return { identity, gzip, ...(brotli && { br: [brotli] }) };
  };
  const cached = new LRUCache({ max: MAX_ADDRESSES, memoMethod: chunksFor });
  return { digest, hasAddress: parts.length > 1, chunksFor: (address) => cached.memo(address) };
}

export interface PageFile {
  path: string;
  /** Returns the path with the digest of the file's content. Caches may keep a response for this path forever. */
  digestPath(): Promise<string>;
}

function withDigest(path: string, digest: string): string {
  return path.replace(/(?=\.\w+$)/, `.${digest}`);
}

export function withoutDigest(path: string): string {
  return path.replace(/\.[\w-]{22}(?=\.\w+$)/, '');
}

/**
 * Serves a text, which is rewritten in this order:
 * 1. `write` returns the text. In a page, the links are already relative.
 * 2. For each of `files`, the digest of the file's content is added to the file's name in the text, before the `"` at
 * the end of the link.
 * 3. In each response, ADDRESS_PLACEHOLDER is replaced by the address that the caller has used.
 * @param files files to which the text links
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
    return { parts: text.split(ADDRESS_PLACEHOLDER).map((part) => Buffer.from(part)) };
  });
}

/**
 * Serves a file under its path, and under a path that also contains a digest of the content. Any digest is accepted:
 * during an update, a page of the old version may request a file, with the old digest, from an instance of the new
 * version.
 */
export function serveFile(pages: FastifyInstance, path: string, read: () => Promise<Source>): PageFile {
  const content = serve(pages, [path, withDigest(path, ':digest')], read);
  return { path, digestPath: async () => withDigest(path, (await content()).digest) };
}

/** Route options of pages, documents and files, which need no key. */
export const PUBLIC_ROUTE = { config: { access: 'public' } } as const;

/**
 * Answers GET requests for the paths.
 * @returns a function that returns the content, which is read at the first call
 */
function serve(pages: FastifyInstance, paths: string[], read: () => Promise<Source>): () => Promise<Content> {
  let preparing: Promise<Content> | undefined;
  const content = () => (preparing ??= read().then(prepare));
  const type = TYPES[extname(paths[0]!)]!;
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { 'accept-encoding': accepted = '' } = request.headers;
    const { hasAddress, digest, chunksFor } = await content();
    const plainAddress = hasAddress ? addressOf(request) : '';
    const address = type === HTML ? escaped(plainAddress) : plainAddress;
    const encoded = chunksFor(address);
    const encoding = (BROTLI.test(accepted) && encoded.br && 'br') || (GZIP.test(accepted) && 'gzip') || '';
    const chunks = encoded[encoding || 'identity']!;
    const tag = entityTag(`${digest} ${encoding} ${address}`);
    const isNotModified = applyReadConditions(request, reply, tag);
    const isNamedByDigest = (request.params as { digest?: string }).digest === digest;
    void reply.headers({
      ETag: tag,
      // A shared cache must not keep content that contains the service's address, because the next caller may use
      // another address. Files under a name with a digest never contain the address.
      'Cache-Control': isNamedByDigest
        ? 'public, max-age=31536000, immutable'
        : `${hasAddress ? 'private' : 'public'}, max-age=300`,
      Vary: 'Origin, Accept-Encoding',
      ...(encoding && { 'Content-Encoding': encoding }),
    });
    if (isNotModified) {
      return reply.send();
    }
    // Send the cached buffers, which all responses share, one after the other. A response with joined buffers would
    // need a copy of the content, and the copies for slow readers could fill the memory.
    return reply.type(type).header('Content-Length', byteLengthOf(chunks)).send(Readable.from(chunks));
  };
  paths.forEach((path) => pages.get(path, PUBLIC_ROUTE, answer));
  return content;
}
