// What is served besides operations. All callers get the same buffers, compressed once: no stream and no work per download.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { entityTag, noneMatchHits } from '#libs/http';
import { addressOf } from './served-address';

/** Cached copies are revalidated by their ETag after five minutes. */
const FRESH = 'public, max-age=300';
/** For a name with a version. */
const UNCHANGING = 'public, max-age=31536000, immutable';

/** A caller may send any `Host`: only what was made for the latest addresses is kept. */
const MAX_ADDRESSES = 8;

export interface Source {
  path: string;
  type: string;
  /** @param address where the caller reached the service; empty if the content is the same everywhere */
  write: (address: string) => string | Buffer | Promise<string | Buffer>;
  /** The content contains the address of the service. */
  hasAddress?: boolean;
  /** The path has a version: its content never changes. */
  hasVersion?: boolean;
}

interface Encoded {
  body: Buffer;
  tag: string;
}

interface Content {
  plain: Encoded;
  compressed: Encoded;
}

/** Answers GET and HEAD of the path, without a key; 304 for a client that has the response. */
export function serveContent(pages: FastifyInstance, source: Source): void {
  const contents = new LRUCache<string, Promise<Content>>({ max: MAX_ADDRESSES });
  pages.get(source.path, async (request, reply) => {
    const address = source.hasAddress ? addressOf(request) : '';
    // Made on first use, because most processes never serve a page.
    const content = contents.get(address) ?? contentOf(source, address);
    contents.set(address, content);
    content.catch(() => contents.delete(address));
    return send(await content, source, request, reply);
  });
}

const encoded = (body: Buffer): Encoded => ({ body, tag: entityTag(body) });

async function contentOf({ write }: Source, address: string): Promise<Content> {
  const body = Buffer.from(await write(address));
  const compressed = await promisify(gzip)(body, { level: 9 });
  return { plain: encoded(body), compressed: encoded(compressed) };
}

function send(content: Content, source: Source, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { 'accept-encoding': accepted = '', 'if-none-match': ifNoneMatch } = request.headers;
  const isCompressed = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(accepted);
  const { body, tag } = isCompressed ? content.compressed : content.plain;
  void reply.headers({
    ETag: tag,
    'Cache-Control': source.hasVersion ? UNCHANGING : FRESH,
    Vary: 'Origin, Accept-Encoding',
    ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
  });
  if (ifNoneMatch !== undefined && noneMatchHits(ifNoneMatch, tag)) {
    return reply.status(304).send();
  }
  return reply.type(source.type).send(body);
}
