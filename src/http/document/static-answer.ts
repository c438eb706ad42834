import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, noneMatchHits } from '#libs/http';

/**
 * A response that is the same for all callers, kept in memory. A file stream would leave the file open if its
 * connection ends while it waits behind other responses: Node does not notify a response whose turn never came.
 */
export interface StaticAnswer {
  type: string;
  body: Buffer;
  tag: string;
}

/** How long a cached copy may be used before it is revalidated by its ETag. */
const FRESH_SECONDS = 300;

export function staticAnswer(type: string, content: string | Buffer): StaticAnswer {
  const body = Buffer.from(content);
  return { type, body, tag: entityTag(body) };
}

export function sendStatic(
  { type, body, tag }: StaticAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  void reply.headers({ ETag: tag, 'Cache-Control': `public, max-age=${FRESH_SECONDS}` });
  const ifNoneMatch = request.headers['if-none-match'];
  if (ifNoneMatch !== undefined && noneMatchHits(ifNoneMatch, tag)) {
    return reply.status(304).send();
  }
  return reply.type(type).send(body);
}
