import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { JSON_TYPE } from '#libs/http';
import { buildDocument, documentText } from './build-document';
import { GUIDES, INDEX_PATH, guidePath, readGuides } from './guides';
import { pageFiles } from './page-files';
import { HTML, guidePage, llmsText, protect, referencePage, wantsPage } from './pages';
import { SHOWN_ADDRESS, rootFrom } from './served-address';
import { serveContent } from './shared-content';

/**
 * Serves the OpenAPI document (`/openapi.json`, `/openapi.yaml`), its pages (`/docs`, `/swagger`) and the guides. They need no
 * key and are never counted.
 */
export function serveDocument(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  const document = buildDocument(app);
  serveRoot(fastify, document);
  const atAddress = (text: string, address: string) => text.replaceAll(SHOWN_ADDRESS, address);
  serveContent(fastify, {
    path: '/openapi.json',
    type: JSON_TYPE,
    hasAddress: true,
    write: (address) => atAddress(JSON.stringify(document), address),
  });
  serveContent(fastify, {
    path: '/openapi.yaml',
    type: 'text/yaml; charset=utf-8',
    hasAddress: true,
    write: async (address) => atAddress(await documentText(document, 'yaml'), address),
  });
  void fastify.register(async (pages) => {
    pages.addHook('onRequest', async (request, reply) => protect(request, reply, 'guide'));
    serveGuides(pages);
  });
  void fastify.register(async (pages) => {
    pages.addHook('onRequest', async (request, reply) => protect(request, reply, 'library'));
    serveContent(pages, { path: '/docs', type: HTML, write: () => referencePage(document) });
    serveSwaggerUi(pages, app);
  });
}

/** Redirects browsers from `/` to the reference, and tells programs where the OpenAPI document is (RFC 8631). */
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

/** The guides, `llms.txt`, and the files that pages load. */
function serveGuides(pages: FastifyInstance): void {
  let reading: ReturnType<typeof readGuides> | undefined;
  const guides = () => (reading ??= readGuides());
  for (const name of GUIDES) {
    const write = async (address: string) => guidePage(name, await guides(), address);
    serveContent(pages, { path: guidePath(name), type: HTML, hasAddress: true, write });
  }
  serveContent(pages, {
    path: '/llms.txt',
    type: 'text/plain; charset=utf-8',
    hasAddress: true,
    write: async (address) => llmsText(await guides(), address),
  });
  for (const { path, type, file } of Object.values(pageFiles())) {
    serveContent(pages, { path, type, hasVersion: true, write: () => readFile(file) });
  }
  for (const path of ['/docs', INDEX_PATH, '/swagger']) {
    pages.get(`${path}/`, (_request, reply) => reply.redirect(rootFrom(`${path}/`) + path.slice(1), 301));
  }
}

/** Of the paths that @nestjs/swagger has for its page and its settings, those from which relative links are right. */
const SWAGGER_UI_PATHS = ['/swagger', '/swagger/swagger-ui-init.js'];
const SWAGGER_UI_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'favicon-16x16.png': 'image/png',
  'favicon-32x32.png': 'image/png',
};

/** Runs in the browser: with other plugins the one that loads the OpenAPI document has to be named. */
const PLUGINS = [
  'toolbox => SwaggerUIBundle.plugins.DownloadUrl(toolbox)',
  `() => ({
    statePlugins: {
      spec: {
        wrapSelectors: {
          allowTryItOutFor: (original, { specSelectors }) => (state, path, method) =>
            !specSelectors.specJson().getIn(['paths', path, method, 'x-hideTryItPanel']) &&
            original(state, path, method),
        },
      },
    },
  })`,
];

/** A function that @nestjs/swagger writes into its page as this text. */
const written = (text: string) => Object.assign(() => undefined, { toString: () => text });

/**
 * The page that @nestjs/swagger generates, at `/swagger`. It gets this instance instead of the application, so that its policy
 * applies, and its files are the same buffers for everybody; @fastify/static would open a stream for each.
 */
function serveSwaggerUi(pages: FastifyInstance, app: NestFastifyApplication): void {
  const host = Object.create(app, {
    getHttpAdapter: {
      value: () => ({
        get: (path: string, handle: RouteHandlerMethod) =>
          SWAGGER_UI_PATHS.includes(path) && pages.get(path, handle),
        getRequestUrl: ({ url }: FastifyRequest) => url,
        getType: () => 'fastify',
      }),
    },
    useStaticAssets: {
      value: ({ root, prefix }: { root: string; prefix: string }) => {
        for (const [name, type] of Object.entries(SWAGGER_UI_FILES)) {
          serveContent(pages, { path: `${prefix}/${name}`, type, write: () => readFile(join(root, name)) });
        }
      },
    },
  }) as NestFastifyApplication;
  // The page loads the document, so that it gets the one with its address.
  SwaggerModule.setup('swagger', host, () => undefined as unknown as OpenAPIObject, {
    raw: false,
    customSiteTitle: 'Pet Store',
    swaggerUrl: 'openapi.json',
    swaggerOptions: { persistAuthorization: true, plugins: PLUGINS.map(written) },
  });
}
