import type { FastifyInstance } from 'fastify';
import { GUIDES, type GuideName, INDEX_PATH, STYLE_PATH, guidePath } from './guides-list';
import { readGuides } from './guides-markdown';
import { pageOf } from './guides-page';
import { STYLE } from './guides-style';
import { type StaticAnswer, sendStatic, staticAnswer } from './static-answer';

/**
 * Serves the guides for callers as pages, each under its own path; any other path below `/docs` is a 404.
 * Call it after `protectPage`, so that these routes are protected too.
 */
export function serveGuides(fastify: FastifyInstance): void {
  // Rendered on first use: most processes never serve a guide.
  const pages = once(renderGuides);
  for (const name of GUIDES) {
    fastify.get(guidePath(name), async (request, reply) => sendStatic((await pages())[name], request, reply));
  }
  fastify.get(`${INDEX_PATH}/`, (_request, reply) => reply.redirect(INDEX_PATH, 301));
  const style = staticAnswer('text/css; charset=utf-8', STYLE);
  fastify.get(STYLE_PATH, (request, reply) => sendStatic(style, request, reply));
}

async function renderGuides(): Promise<Record<GuideName, StaticAnswer>> {
  const guides = await readGuides();
  const pages = guides.map((guide) => {
    return [guide.name, staticAnswer('text/html; charset=utf-8', pageOf(guide, guides))] as const;
  });
  return Object.fromEntries(pages) as Record<GuideName, StaticAnswer>;
}

/** Runs the work on the first call and keeps the result; a failure is not kept. */
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
