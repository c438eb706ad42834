import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, noneMatchHits } from '#libs/http';
import { GUIDES, type GuideName, INDEX_PATH, STYLE_PATH, guidePath } from './guides-list';
import { readGuides } from './guides-markdown';
import { pageOf } from './guides-page';
import { STYLE } from './guides-style';

interface Served {
  type: string;
  body: string;
  tag: string;
}

/** For so many seconds a copy may be used without asking; then it is asked for by its ETag. */
const FRESH_SECONDS = 300;

/**
 * Serves the guides for callers as pages, each under a path of its own: any other path below `/docs` is unknown, as ever.
 * Called where routes of the page are already protected, so that these are as well.
 */
export function serveGuides(fastify: FastifyInstance): void {
  // Nobody may ever read a guide.
  const pages = once(renderGuides);
  for (const name of GUIDES) {
    fastify.get(guidePath(name), async (request, reply) => answer((await pages())[name], request, reply));
  }
  fastify.get(`${INDEX_PATH}/`, (_request, reply) => reply.redirect(INDEX_PATH, 301));
  const style = served('text/css; charset=utf-8', STYLE);
  fastify.get(STYLE_PATH, (request, reply) => answer(style, request, reply));
}

async function renderGuides(): Promise<Record<GuideName, Served>> {
  const guides = await readGuides();
  const pages = guides.map((guide) => {
    return [guide.name, served('text/html; charset=utf-8', pageOf(guide, guides))] as const;
  });
  return Object.fromEntries(pages) as Record<GuideName, Served>;
}

function served(type: string, body: string): Served {
  return { type, body, tag: entityTag(body) };
}

function answer({ type, body, tag }: Served, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  void reply.headers({ ETag: tag, 'Cache-Control': `public, max-age=${FRESH_SECONDS}` });
  const ifNoneMatch = request.headers['if-none-match'];
  if (ifNoneMatch !== undefined && noneMatchHits(ifNoneMatch, tag)) {
    return reply.status(304).send();
  }
  return reply.type(type).send(body);
}

/** Does the work for the first who asks and keeps the result for all others; a failure is not kept. */
function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
