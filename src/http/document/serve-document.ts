import { readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
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

const BROWSER = join(__dirname, 'browser');

/** Files that the pages load: our own, and the used files of packages. Other package files are not served. */
const FILES = new Map<string, string>([
  ...['docs.css', 'docs.js', 'page.css', 'page.js', 'key.js', 'samples.js', 'words.js'].map(
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
 * Serves the pages: the operations at `/docs`, the guides below it, and their files. The
 * page of @nestjs/swagger has inline styles, which a strict content security policy forbids.
 */
export function servePages(fastify: FastifyInstance, document: OpenAPIObject): void {
  const files = [...FILES].map(([name, file]) => ({ name, body: readFileSync(file) }));
  const version = entityTag(Buffer.concat(files.map(({ body }) => body))).replaceAll('"', '');
  for (const { name, body } of files) {
    const isModule = dirname(FILES.get(name)!) === BROWSER;
    const content = staticContent(
      TYPES[extname(name)]!,
      isModule ? withVersion(body.toString(), version) : body,
    );
    serveStatic(fastify, `/docs/${name}`, () => content, version);
  }
  // Rendered on first use: most processes never serve a page.
  const pages = once(() => renderPages(document, version));
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

/** Adds the version to the addresses of our files, so that a browser may keep each for good. */
function withVersion(text: string, version: string): string {
  return text
    .replace(/(["'])(\/docs\/[\w-]+\.(?:css|js|png))\1/g, `$1$2?v=${version}$1`)
    .replace(/ from '\.\/(\w+\.js)'/g, ` from './$1?v=${version}'`);
}

async function renderPages(document: OpenAPIObject, version: string): Promise<Map<string, StaticContent>> {
  const guides = await readGuides();
  const index = JSON.stringify(searchIndex(document, guides));
  const page = (html: string) => staticContent(HTML, withVersion(html, version));
  return new Map([
    ['/docs', page(operationsPage(document, guides))],
    ['/docs/search.json', staticContent('application/json; charset=utf-8', index)],
    ...guides.map((guide) => [guidePath(guide.name), page(guidePage(guide, document, guides))] as const),
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
  /** What has been compressed, on first use and for all callers after it. */
  compressed: Partial<Record<Coding, Promise<Buffer>>>;
}

function staticContent(type: string, content: string | Buffer): StaticContent {
  const body = Buffer.from(content);
  return { type, body, tag: entityTag(body), compressed: {} };
}

type Coding = keyof typeof COMPRESS;

/** In the order of preference. Brotli's highest quality takes two seconds for a tenth less. */
const COMPRESS = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body: Buffer) => promisify(gzip)(body, { level: constants.Z_BEST_COMPRESSION }),
};

/** The content coding that a client accepts (RFC 9110, section 12.5.3). Images are compressed as they are. */
function codingFor({ type }: StaticContent, accepted = ''): Coding | undefined {
  const codings = accepted
    .toLowerCase()
    .split(',')
    .map((one) => one.split(';').map((part) => part.trim()));
  const isAccepted = (name: string) =>
    codings.some(([coding, ...weights]) => coding === name && !weights.some((q) => /^q=0(\.0*)?$/.test(q)));
  return type.startsWith('image/') ? undefined : (Object.keys(COMPRESS) as Coding[]).find(isAccepted);
}

/** How long a cached copy may be used before it is revalidated by its ETag. */
const FRESH = 'public, max-age=300';
/** For an address with the version of the content. */
const FRESH_FOR_GOOD = 'public, max-age=31536000, immutable';

/**
 * Answers GET and HEAD of the path, compressed if the client accepts it; 304 for a client that has the response.
 * @param version the value of `v` in the addresses that pages use
 */
function serveStatic(
  fastify: FastifyInstance,
  path: string,
  contentOf: () => StaticContent | Promise<StaticContent>,
  version?: string,
): void {
  const serve: RouteHandlerMethod = async (request, reply) => {
    const content = await contentOf();
    const { type, body, compressed } = content;
    const coding = codingFor(content, request.headers['accept-encoding'] as string | undefined);
    // Each coding is a representation of its own (RFC 9110, section 8.8.3.3).
    const tag = coding ? content.tag.replace(/"$/, `-${coding}"`) : content.tag;
    const isVersion = version !== undefined && (request.query as { v?: string }).v === version;
    void reply.headers({
      ETag: tag,
      'Cache-Control': isVersion ? FRESH_FOR_GOOD : FRESH,
      Vary: 'Accept-Encoding',
    });
    const ifNoneMatch = request.headers['if-none-match'];
    if (ifNoneMatch !== undefined && noneMatchHits(ifNoneMatch, tag)) {
      return reply.status(304).send();
    }
    void reply.type(type);
    if (coding === undefined) {
      return reply.send(body);
    }
    compressed[coding] ??= COMPRESS[coding](body);
    return reply.header('Content-Encoding', coding).send(await compressed[coding]);
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
