import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { GUIDES, INDEX_PATH, guidePath } from '../guides/guides-list';
import { guidePage } from '../guides/guide-page';
import { readGuides } from '../guides/guides-markdown';
import { type StaticAnswer, once, serveStatic, staticAnswer } from '../static-answer';
import { operationsPage } from './operations-page';
import { searchIndex } from './search-index';

const HTML = 'text/html; charset=utf-8';
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
};

/** Files that the pages load: our own, and the used files of packages. Other package files are not served. */
const FILES = [
  ...['docs.css', 'docs.js', 'page.css', 'page.js', 'key.js', 'samples.js', 'words.js'].map((name) =>
    join(__dirname, '../browser', name),
  ),
  ...['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'].map((name) =>
    require.resolve(`swagger-ui-dist/${name}`),
  ),
  ...['github.css', 'github-dark.css'].map((name) => require.resolve(`highlight.js/styles/${name}`)),
];

/**
 * Serves the pages: the operations at `/docs`, the guides below it, and their files. The
 * page of @nestjs/swagger has inline styles, which a strict content security policy forbids.
 */
export function servePages(fastify: FastifyInstance, document: OpenAPIObject): void {
  for (const file of FILES) {
    const answer = staticAnswer(TYPES[extname(file)]!, readFileSync(file));
    serveStatic(fastify, `/docs/${basename(file)}`, () => answer);
  }
  // Rendered on first use: most processes never serve a page.
  const pages = once(() => renderPages(document));
  for (const path of ['/docs', '/docs/search.json', ...GUIDES.map(guidePath)]) {
    serveStatic(fastify, path, async () => (await pages()).get(path)!);
  }
  for (const path of ['/docs/', '/docs/index.html']) {
    serveStatic(fastify, path, async () => (await pages()).get('/docs')!);
  }
  fastify.get(`${INDEX_PATH}/`, (_request, reply) => reply.redirect(INDEX_PATH, 301));
}

async function renderPages(document: OpenAPIObject): Promise<Map<string, StaticAnswer>> {
  const guides = await readGuides();
  const index = JSON.stringify(searchIndex(document, guides));
  return new Map([
    ['/docs', staticAnswer(HTML, operationsPage(document, guides))],
    ['/docs/search.json', staticAnswer('application/json; charset=utf-8', index)],
    ...guides.map((guide) => {
      return [guidePath(guide.name), staticAnswer(HTML, guidePage(guide, document, guides))] as const;
    }),
  ]);
}
