// What is served besides operations. All callers get the same buffers, compressed once: no stream and no work per download.
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
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

/** A caller may send any `Host`: only what was made for the latest addresses is kept. */
const MAX_ADDRESSES = 8;

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
  const fetchMethod = async (address: string) => {
    const written = await write();
    const shown = TYPES[extname(path)] === HTML ? escaped(address) : address;
    const plain = Buffer.from(isFile ? written : String(written).replaceAll(SHOWN_ADDRESS, () => shown));
    const compressed = await promisify(gzip)(plain);
    const tagged = (body: Buffer) => ({ body, tag: entityTag(body) });
    return { plain: tagged(plain), compressed: tagged(compressed) };
  };
  const contents = new LRUCache({ max: MAX_ADDRESSES, fetchMethod, ignoreFetchAbort: true });
  pages.get(path, async (request, reply) => {
    const { 'accept-encoding': accepted = '' } = request.headers;
    const isCompressed = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(accepted);
    const content = await contents.fetch(isFile ? '' : addressOf(request));
    const { body, tag } = content![isCompressed ? 'compressed' : 'plain'];
    const isHeld = isNotModified(request.headers, tag);
    void reply.headers({
      ETag: tag,
      // A copy is revalidated after five minutes. The next caller may have another address.
      'Cache-Control': `${isFile ? 'public' : 'private'}, max-age=300`,
      Vary: 'Origin, Accept-Encoding',
      ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
    });
    return isHeld ? reply.status(304).send() : reply.type(TYPES[extname(path)]!).send(body);
  });
}
