import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { NEVER_COUNTED } from '../../modules/quotas';
import type { Settings } from '../../settings';
import { buildDocument, documentText } from './build-document';
import { INDEX_PATH } from './guides/guides-list';
import { setPageHeaders, wantsPage } from './pages/browsers';
import { servePages } from './pages/serve-pages';
import { once, serveStatic, staticAnswer } from './static-answer';

/** Redirects browsers from `/` to the operations, and tells programs where the interface description is (RFC 8631). */
function serveEntrance(fastify: FastifyInstance, { info }: OpenAPIObject): void {
  const places = { openapi: '/openapi.json', docs: '/docs', guides: INDEX_PATH };
  const entrance = { name: info.title, version: info.version, ...places };
  const link = `<${places.openapi}>; rel="service-desc", <${places.docs}>; rel="service-doc"`;
  fastify.get('/', (request, reply) => {
    void reply.headers({ Vary: 'Accept', Link: link });
    return wantsPage(request) ? reply.redirect(places.docs) : reply.send(entrance);
  });
}

function serveDescription(fastify: FastifyInstance, document: OpenAPIObject): void {
  const json = staticAnswer('application/json; charset=utf-8', JSON.stringify(document));
  serveStatic(fastify, '/openapi.json', () => json);
  // Written on first use, because it takes a tenth of a second.
  const yaml = once(async () => staticAnswer('text/yaml', await documentText(document, 'yaml')));
  serveStatic(fastify, '/openapi.yaml', yaml);
}

/**
 * Serves the interface description (`/openapi.json`, `/openapi.yaml`), its page (`/docs`) and the guides below it. They
 * need no key and are never counted.
 */
export function serveDocument(app: NestFastifyApplication, settings: Settings): void {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  const document = buildDocument(app, settings);
  void fastify.register((free, _options, done) => {
    free.addHook('onRoute', (route) => {
      route.config = { ...route.config, ...NEVER_COUNTED };
    });
    serveEntrance(free, document);
    serveDescription(free, document);
    void free.register((pages, _pageOptions, pagesDone) => {
      pages.addHook('onRequest', (request, reply, next) =>
        setPageHeaders(request.raw, reply.raw, (error) => next(error as Error | undefined)),
      );
      servePages(pages, document);
      pagesDone();
    });
    done();
  });
}
