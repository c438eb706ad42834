import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, noneMatchHits } from '#libs/http';

/**
 * An answer that is the same for everybody, kept in memory. A stream from a file would keep the file open when its
 * connection ends while it waits behind other answers: Node does not notify a response that never had its turn.
 */
export interface StaticAnswer {
  type: string;
  body: Buffer;
  tag: string;
}

/** A cached copy may be used for this long before it is revalidated by its ETag. */
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
