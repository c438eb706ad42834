import { basename, dirname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { JSON_TYPE, entityTag, noneMatchHits } from '#libs/http';
import type { Settings } from '../../settings';
import { buildDocument, documentText } from './build-document';
import { GUIDES, INDEX_PATH, guidePath, readGuides } from './guides';
import { guidePage, operationsPage, searchIndex, setPageHeaders, wantsPage } from './pages';

const HTML = 'text/html; charset=utf-8';
/** How long a cached copy may be used before it is revalidated by its ETag, in seconds. */
const FRESH_SECONDS = 300;

const BROWSER = join(__dirname, 'browser');

/** Files that the pages load: our own, and the used files of packages. Other package files are not served. */
const FILES = new Map<string, string>([
  ...['docs.css', 'docs.js', 'limits.js', 'page.css', 'page.js', 'samples.js'].map(
    (name) => [name, join(BROWSER, name)] as const,
  ),
  ...['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'].map(
    (name) => [name, require.resolve(`swagger-ui-dist/${name}`)] as const,
  ),
  ...['github.css', 'github-dark.css'].map(
    (name) => [name, require.resolve(`highlight.js/styles/${name}`)] as const,
  ),
  ['minisearch.js', join(require.resolve('minisearch'), '../../es/index.js')],
]);

/**
 * Serves the OpenAPI document (`/openapi.json`, `/openapi.yaml`), its page (`/docs`) and the guides below it. They
 * need no key and are never counted.
 */
export function serveDocument(app: NestFastifyApplication, settings: Settings): void {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  const document = buildDocument(app, settings);
  serveRoot(fastify, document);
  serveText(fastify, '/openapi.json', JSON_TYPE, () => JSON.stringify(document));
  // Written on first use, because it takes a tenth of a second.
  serveText(fastify, '/openapi.yaml', 'text/yaml', () => documentText(document, 'yaml'));
  void fastify.register(async (pages) => {
    await pages.register(fastifyStatic, { root: BROWSER, serve: false, maxAge: FRESH_SECONDS * 1_000 });
    pages.addHook('onRequest', (request, reply, next) =>
      setPageHeaders(request.raw, reply.raw, (error) => next(error as Error | undefined)),
    );
    for (const [name, file] of FILES) {
      pages.get(`/docs/${name}`, (_request, reply) => reply.sendFile(basename(file), dirname(file)));
    }
    servePages(pages, document);
  });
}

/** Redirects browsers from `/` to the operations, and tells programs where the OpenAPI document is (RFC 8631). */
function serveRoot(fastify: FastifyInstance, { info }: OpenAPIObject): void {
  const places = { openapi: '/openapi.json', docs: '/docs', guides: INDEX_PATH };
  const entrance = { name: info.title, version: info.version, ...places };
  const link = `<${places.openapi}>; rel="service-desc", <${places.docs}>; rel="service-doc"`;
  const serve: RouteHandlerMethod = (request, reply) => {
    void reply.headers({ Vary: 'Origin, Accept', Link: link });
    return wantsPage(request) ? reply.redirect(places.docs) : reply.send(entrance);
  };
  fastify.get('/', serve);
}

/**
 * The operations at `/docs`, the guides below it, and what the search finds. The page of @nestjs/swagger has inline styles,
 * which a strict content security policy forbids.
 */
function servePages(fastify: FastifyInstance, document: OpenAPIObject): void {
  // Rendered on first use: most processes never serve a page.
  const guides = once(readGuides);
  for (const path of ['/docs', '/docs/']) {
    serveText(fastify, path, HTML, async () => operationsPage(document, await guides()));
  }
  for (const [index, name] of GUIDES.entries()) {
    serveText(fastify, guidePath(name), HTML, async () => {
      const all = await guides();
      return guidePage(all[index]!, document, all);
    });
  }
  serveText(fastify, '/docs/search.json', JSON_TYPE, async () =>
    JSON.stringify(searchIndex(document, await guides())),
  );
  fastify.get(`${INDEX_PATH}/`, (_request, reply) => reply.redirect(INDEX_PATH, 301));
}

/** Answers GET and HEAD of the path, the same for all callers; 304 for a client that has the response. */
function serveText(
  fastify: FastifyInstance,
  path: string,
  type: string,
  write: () => string | Promise<string>,
): void {
  const content = once(async () => {
    const body = Buffer.from(await write());
    return { body, tag: entityTag(body) };
  });
  const serve: RouteHandlerMethod = async (request, reply) => {
    const { body, tag } = await content();
    void reply.headers({ ETag: tag, 'Cache-Control': `public, max-age=${FRESH_SECONDS}` });
    const ifNoneMatch = request.headers['if-none-match'];
    if (ifNoneMatch !== undefined && noneMatchHits(ifNoneMatch, tag)) {
      return reply.status(304).send();
    }
    return reply.type(type).send(body);
  };
  fastify.get(path, serve);
}

/** Runs the work on the first call and caches the result, but not a failure. */
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
