import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import type {
  FastifyInstance,
  onRequestAsyncHookHandler,
  onRequestHookHandler,
  onSendAsyncHookHandler,
} from 'fastify';
import helmet from 'helmet';
import { NEVER_COUNTED } from '../../modules/quotas';
import { buildDocument } from './build-document';
import { serveGuides } from './guides';
import { servePage } from './page/serve-page';

/** What the page may load: its own files, and the images that Swagger UI's style sheet has in itself. */
const CONTENT_SECURITY_POLICY = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

/** Protects the page, by route because a path can be spelt in many ways; other requests pay nothing for it. */
export function protectPage(fastify: FastifyInstance): void {
  const setHeaders = helmet({
    contentSecurityPolicy: CONTENT_SECURITY_POLICY,
    // The service speaks plain HTTP; whoever puts TLS in front of it decides about these.
    strictTransportSecurity: false,
    crossOriginOpenerPolicy: false,
  });
  fastify.addHook('onRoute', (route) => {
    if (/^\/docs(\/|$)/.test(route.url)) {
      route.config = { ...route.config, ...NEVER_COUNTED };
      const protect: onRequestHookHandler = (request, reply, done) =>
        setHeaders(request.raw, reply.raw, (error) => done(error as Error | undefined));
      route.onRequest = [protect, ...hooksOf(route.onRequest)];
    }
  });
}

/**
 * Caches the responses of these paths as bytes: the document never changes, and to write it as YAML takes a tenth of a
 * second. With text, each response that waits to be sent would have its own copy.
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
    // The first to see the body: on HEAD, another hook takes it away.
    route.onSend = [keep, ...hooksOf(route.onSend)];
  });
}

/** The hooks that a route has already. */
function hooksOf<Hook>(hooks: Hook | Hook[] | undefined): Hook[] {
  return hooks === undefined ? [] : ([hooks].flat() as Hook[]);
}

/** Serves the interface description (`/openapi.json`, `/openapi.yaml`), its page (`/docs`) and the guides below that. */
export function serveDocument(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  protectPage(fastify);
  answerOnce(fastify, '/openapi.json', '/openapi.yaml');
  serveGuides(fastify);
  servePage(fastify);
  SwaggerModule.setup('docs', app, buildDocument(app), {
    ui: false,
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
  });
}
