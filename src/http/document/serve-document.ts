import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type {
  FastifyInstance,
  onRequestAsyncHookHandler,
  onRequestHookHandler,
  onSendAsyncHookHandler,
} from 'fastify';
import { NEVER_COUNTED } from '../../modules/quotas';
import type { Settings } from '../../settings';
import { buildDocument } from './build-document';
import { INDEX_PATH } from './guides/guides-list';
import { setPageHeaders, wantsPage } from './pages/browsers';
import { servePages } from './pages/serve-pages';

/** Protects the page per route, because a path can be spelt in many ways. Other requests are not slowed down. */
export function protectPage(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    if (/^\/docs(\/|$)/.test(route.url)) {
      route.config = { ...route.config, ...NEVER_COUNTED };
      const protect: onRequestHookHandler = (request, reply, done) =>
        setPageHeaders(request.raw, reply.raw, (error) => done(error as Error | undefined));
      route.onRequest = [protect, ...hooksOf(route.onRequest)];
    }
  });
}

/**
 * Caches the responses of these paths as bytes: the document never changes, and serializing it as YAML takes a tenth of
 * a second. As text, each pending response would have its own copy.
 */
function answerOnce(fastify: FastifyInstance, ...paths: string[]): void {
  fastify.addHook('onRoute', (route) => {
    if (!paths.includes(route.url)) {
      return;
    }
    route.config = { ...route.config, ...NEVER_COUNTED };
    let kept: { type: string; body: Buffer } | undefined;
    const answerKept: onRequestAsyncHookHandler = async (_request, reply) => {
      if (kept) {
        return reply.type(kept.type).send(kept.body);
      }
    };
    const keep: onSendAsyncHookHandler = async (_request, reply, body) => {
      if (reply.statusCode === 200) {
        kept ??= {
          type: String(reply.getHeader('content-type')),
          body: Buffer.from(body as string | Buffer),
        };
      }
    };
    route.onRequest = [...hooksOf(route.onRequest), answerKept];
    // This must see the body first, because for HEAD another hook removes it.
    route.onSend = [keep, ...hooksOf(route.onSend)];
  });
}

/** The existing hooks of a route. */
function hooksOf<Hook>(hooks: Hook | Hook[] | undefined): Hook[] {
  return hooks === undefined ? [] : ([hooks].flat() as Hook[]);
}

/** Redirects browsers from `/` to the operations, and tells programs where the interface description is (RFC 8631). */
function serveEntrance(fastify: FastifyInstance, { info }: OpenAPIObject): void {
  const places = { openapi: '/openapi.json', docs: '/docs', guides: INDEX_PATH };
  const entrance = { name: info.title, version: info.version, ...places };
  const link = `<${places.openapi}>; rel="service-desc", <${places.docs}>; rel="service-doc"`;
  fastify.get('/', { config: NEVER_COUNTED }, (request, reply) => {
    void reply.headers({ Vary: 'Accept', Link: link });
    return wantsPage(request) ? reply.redirect(places.docs) : reply.send(entrance);
  });
}

/** Serves the interface description (`/openapi.json`, `/openapi.yaml`), its page (`/docs`) and the guides below it. */
export function serveDocument(app: NestFastifyApplication, settings: Settings): void {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  const document = buildDocument(app, settings);
  protectPage(fastify);
  answerOnce(fastify, '/openapi.json', '/openapi.yaml');
  serveEntrance(fastify, document);
  servePages(fastify, document);
  SwaggerModule.setup('docs', app, document, {
    ui: false,
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
  });
}
