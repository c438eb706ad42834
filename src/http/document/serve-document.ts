import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, type ParameterObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { isNotModified } from '#libs/http';
import { buildDocument, documentText } from './build-document';
import {
  GUIDES,
  GUIDE_HEADERS,
  INDEX_PATH,
  LIBRARY_HEADERS,
  guidePage,
  guidePath,
  llmsText,
  readGuides,
  referencePage,
  wantsPage,
} from './pages';
import { SHOWN_ADDRESS, rootFrom, serveContent } from './shared-content';

/** Serves the OpenAPI document, its pages and the guides. They need no key and are never counted. */
export function serveDocument(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  const document = buildDocument(app);
  serveRoot(fastify, document);
  const servedAt = (address: string, text: string) => text.replaceAll(SHOWN_ADDRESS, () => address);
  // Written once: whoever sends another Host each time must not keep the process busy.
  const json = JSON.stringify(document);
  const shown = JSON.stringify(document, withoutPrefilling);
  let yaml: Promise<string> | undefined;
  serveContent(fastify, '/openapi.json', (address) => servedAt(address, json));
  serveContent(fastify, '/docs/openapi.json', (address) => servedAt(address, shown));
  serveContent(fastify, '/openapi.yaml', async (address) =>
    servedAt(address, await (yaml ??= documentText(document, 'yaml'))),
  );
  void fastify.register(async (pages) => {
    pages.addHook('onRequest', async (_request, reply) => void reply.headers(GUIDE_HEADERS));
    serveGuides(pages);
  });
  void fastify.register(async (pages) => {
    pages.addHook('onRequest', async (_request, reply) => void reply.headers(LIBRARY_HEADERS));
    serveReference(pages, document);
    serveSwaggerUi(pages, app);
  });
}

/** Right as an example for a program; on a page, it would be sent by everybody who tries an operation a second time. */
const NOT_PREFILLED = ['Idempotency-Key', 'If-Match', 'If-None-Match', 'cursor', 'wait'];

function withoutPrefilling(_key: string, value: unknown): unknown {
  const { in: place, name = '', schema } = (value ?? {}) as Partial<ParameterObject>;
  return place !== undefined && NOT_PREFILLED.includes(name)
    ? { ...(value as ParameterObject), example: undefined, schema: { ...schema, example: undefined } }
    : value;
}

/** Redirects browsers from `/` to the reference, and tells programs where the OpenAPI document is (RFC 8631). */
function serveRoot(fastify: FastifyInstance, { info }: OpenAPIObject): void {
  fastify.get('/', (request, reply) => {
    const isPage = wantsPage(request);
    const isHeld = !isPage && isNotModified(request.headers, null);
    const at = (path: string) => request.prefix + path;
    const places = { openapi: at('/openapi.json'), docs: at('/docs'), guides: at(INDEX_PATH) };
    const link = `<${places.openapi}>; rel="service-desc", <${places.docs}>; rel="service-doc"`;
    void reply.headers({ Vary: 'Origin, Accept', Link: link });
    if (isPage) {
      return reply.redirect(places.docs);
    }
    const answer = { name: info.title, version: info.version, ...places };
    return isHeld ? reply.status(304).send() : reply.send(answer);
  });
}

function serveGuides(pages: FastifyInstance): void {
  let reading: ReturnType<typeof readGuides> | undefined;
  const guides = () => (reading ??= readGuides());
  for (const [index, name] of GUIDES.entries()) {
    serveContent(pages, guidePath(name), async (address) => {
      const all = await guides();
      return guidePage(all[index]!, all, address);
    });
  }
  serveContent(pages, '/llms.txt', async (address) => llmsText(await guides(), address));
  for (const name of ['guide.css', 'copying.js', 'reference.js']) {
    serveContent(pages, `/docs/${name}`, () => readFile(join(__dirname, 'browser', name)), { isFile: true });
  }
  for (const path of ['/docs', INDEX_PATH, '/swagger']) {
    pages.get(`${path}/`, (_request, reply) => reply.redirect(rootFrom(`${path}/`) + path.slice(1), 301));
  }
}

/** Scalar's page. Of its package, only the file for browsers is used. */
function serveReference(pages: FastifyInstance, document: OpenAPIObject): void {
  const library = join(dirname(require.resolve('@scalar/fastify-api-reference')), 'js/standalone.js');
  serveContent(pages, '/docs/scalar.js', () => readFile(library), { isFile: true });
  serveContent(pages, '/docs', () => referencePage(document), { isFile: true });
}

/** Of the paths that @nestjs/swagger has for its page and its settings, those from which relative links are right. */
const SWAGGER_UI_PATHS = ['/swagger', '/swagger/swagger-ui-init.js'];
const SWAGGER_UI_FILES =
  'swagger-ui.css swagger-ui-bundle.js swagger-ui-standalone-preset.js favicon-16x16.png favicon-32x32.png';

/** Run in the browser: the plugin that loads the document, and one that hides the panel to try some operations. */
const SWAGGER_UI_PLUGINS = [
  'toolbox => SwaggerUIBundle.plugins.DownloadUrl(toolbox)',
  `() => ({ statePlugins: { spec: { wrapSelectors: {
    allowTryItOutFor: (original, { specSelectors }) => (state, path, method) =>
      !specSelectors.specJson().getIn(['paths', path, method, 'x-hideTryItPanel']) && original(state, path, method),
  } } } })`,
];

/**
 * The page that @nestjs/swagger generates, at `/swagger`. It gets these pages instead of the application, so that it has their
 * policy, and what it sends is shared: @fastify/static would open a stream for each file.
 */
function serveSwaggerUi(pages: FastifyInstance, app: NestFastifyApplication): void {
  type Serve = (request: { url: string }, reply: { type(): void; send(text: string): void }) => void;
  const get = (path: string, serve: Serve) => {
    const write = () => new Promise<string>((send) => serve({ url: path }, { type: () => undefined, send }));
    if (SWAGGER_UI_PATHS.includes(path)) {
      serveContent(pages, path, write, { isFile: true });
    }
  };
  const getRequestUrl = ({ url }: { url: string }) => url;
  const adapter = { get, getRequestUrl, getType: () => 'fastify' };
  const useStaticAssets = ({ root, prefix }: { root: string; prefix: string }) =>
    SWAGGER_UI_FILES.split(' ').forEach((name) =>
      serveContent(pages, `${prefix}/${name}`, () => readFile(join(root, name)), { isFile: true }),
    );
  const host = Object.create(app, {
    getHttpAdapter: { value: () => adapter },
    useStaticAssets: { value: useStaticAssets },
  }) as NestFastifyApplication;
  // Without a document of its own, the page loads the one that has its address.
  SwaggerModule.setup('swagger', host, () => undefined as unknown as OpenAPIObject, {
    raw: false,
    customSiteTitle: 'Pet Store',
    swaggerUrl: 'docs/openapi.json',
    swaggerOptions: {
      persistAuthorization: true,
      // Otherwise it shows the document to a host elsewhere.
      validatorUrl: null,
      // @nestjs/swagger writes functions into the page as their text.
      plugins: SWAGGER_UI_PLUGINS.map((text) => Object.assign(() => undefined, { toString: () => text })),
    },
  });
}
