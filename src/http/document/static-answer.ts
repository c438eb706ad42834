import type { FastifyInstance } from 'fastify';
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

/** Answers GET and HEAD of the path; 304 for a client that has the response. */
export function serveStatic(
  fastify: FastifyInstance,
  path: string,
  answer: () => StaticAnswer | Promise<StaticAnswer>,
): void {
  fastify.get(path, async (request, reply) => {
    const { type, body, tag } = await answer();
    void reply.headers({ ETag: tag, 'Cache-Control': `public, max-age=${FRESH_SECONDS}` });
    const ifNoneMatch = request.headers['if-none-match'];
    if (ifNoneMatch !== undefined && noneMatchHits(ifNoneMatch, tag)) {
      return reply.status(304).send();
    }
    return reply.type(type).send(body);
  });
}

/** Runs the work on the first call and caches the result, but not a failure. */
export function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
