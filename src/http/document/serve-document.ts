import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { entityTag, noneMatchHits } from '#libs/http';
import type { Settings } from '../../settings';
import { buildDocument, documentText } from './build-document';
import { GUIDES, INDEX_PATH, guidePath, readGuides } from './guides';
import { guidePage, operationsPage, searchIndex, setPageHeaders, wantsPage } from './pages';

/** Redirects browsers from `/` to the operations, and tells programs where the interface description is (RFC 8631). */
function serveEntrance(fastify: FastifyInstance, { info }: OpenAPIObject): void {
  const places = { openapi: '/openapi.json', docs: '/docs', guides: INDEX_PATH };
  const entrance = { name: info.title, version: info.version, ...places };
  const link = `<${places.openapi}>; rel="service-desc", <${places.docs}>; rel="service-doc"`;
  const serve: RouteHandlerMethod = (request, reply) => {
    void reply.headers({ Vary: 'Accept', Link: link });
    return wantsPage(request) ? reply.redirect(places.docs) : reply.send(entrance);
  };
  fastify.get('/', uncounted(serve));
}

function serveDescription(fastify: FastifyInstance, document: OpenAPIObject): void {
  const json = staticContent('application/json; charset=utf-8', JSON.stringify(document));
  serveStatic(fastify, '/openapi.json', () => json);
  // Written on first use, because it takes a tenth of a second.
  const yaml = once(async () => staticContent('text/yaml', await documentText(document, 'yaml')));
  serveStatic(fastify, '/openapi.yaml', yaml);
}

/**
 * Serves the interface description (`/openapi.json`, `/openapi.yaml`), its page (`/docs`) and the guides below it. They
 * need no key and are never counted.
 */
export function serveDocument(app: NestFastifyApplication, settings: Settings): void {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  const document = buildDocument(app, settings);
  serveEntrance(fastify, document);
  serveDescription(fastify, document);
  void fastify.register((pages, _options, done) => {
    pages.addHook('onRequest', (request, reply, next) =>
      setPageHeaders(request.raw, reply.raw, (error) => next(error as Error | undefined)),
    );
    servePages(pages, document);
    done();
  });
}

/** Marks a handler outside of Nest, as the decorator does in a controller. */
function uncounted(handler: RouteHandlerMethod): RouteHandlerMethod {
  SkipThrottle({ minute: true, day: true })(handler);
  return handler;
}

const HTML = 'text/html; charset=utf-8';
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
};

/** Files that the pages load: our own, and the used files of packages. Other package files are not served. */
const FILES = [
  ...['docs.css', 'docs.js', 'page.css', 'page.js', 'key.js', 'samples.js', 'words.js'].map((name) =>
    join(__dirname, 'browser', name),
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
    const content = staticContent(TYPES[extname(file)]!, readFileSync(file));
    serveStatic(fastify, `/docs/${basename(file)}`, () => content);
  }
  // Rendered on first use: most processes never serve a page.
  const pages = once(() => renderPages(document));
  for (const path of ['/docs', '/docs/search.json', ...GUIDES.map(guidePath)]) {
    serveStatic(fastify, path, async () => (await pages()).get(path)!);
  }
  for (const path of ['/docs/', '/docs/index.html']) {
    serveStatic(fastify, path, async () => (await pages()).get('/docs')!);
  }
  fastify.get(
    `${INDEX_PATH}/`,
    uncounted((_request, reply) => reply.redirect(INDEX_PATH, 301)),
  );
}

async function renderPages(document: OpenAPIObject): Promise<Map<string, StaticContent>> {
  const guides = await readGuides();
  const index = JSON.stringify(searchIndex(document, guides));
  return new Map([
    ['/docs', staticContent(HTML, operationsPage(document, guides))],
    ['/docs/search.json', staticContent('application/json; charset=utf-8', index)],
    ...guides.map((guide) => {
      return [guidePath(guide.name), staticContent(HTML, guidePage(guide, document, guides))] as const;
    }),
  ]);
}

/**
 * A response that is the same for all callers, kept in memory. A file stream would leave the file open if its
 * connection ends while it waits behind other responses: Node does not notify a response whose turn never came.
 */
interface StaticContent {
  type: string;
  body: Buffer;
  tag: string;
}

/** How long a cached copy may be used before it is revalidated by its ETag. */
const FRESH_SECONDS = 300;

function staticContent(type: string, content: string | Buffer): StaticContent {
  const body = Buffer.from(content);
  return { type, body, tag: entityTag(body) };
}

/** Answers GET and HEAD of the path; 304 for a client that has the response. */
function serveStatic(
  fastify: FastifyInstance,
  path: string,
  content: () => StaticContent | Promise<StaticContent>,
): void {
  const serve: RouteHandlerMethod = async (request, reply) => {
    const { type, body, tag } = await content();
    void reply.headers({ ETag: tag, 'Cache-Control': `public, max-age=${FRESH_SECONDS}` });
    const ifNoneMatch = request.headers['if-none-match'];
    if (ifNoneMatch !== undefined && noneMatchHits(ifNoneMatch, tag)) {
      return reply.status(304).send();
    }
    return reply.type(type).send(body);
  };
  fastify.get(path, uncounted(serve));
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
