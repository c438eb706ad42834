import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestLimiter } from '../quotas';
import type { Settings } from '../settings';

/** What a script of another origin may read of an answer; the fetch standard hides everything else. */
export const EXPOSED_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'Retry-After',
  'X-Request-Id',
  'ETag',
  'Location',
  'Link',
  'Allow',
  'Deprecation',
  'Sunset',
  'Idempotent-Replayed',
  'WWW-Authenticate',
];

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = 600;

/** Lets pages of the configured origins call the service. A preflight is answered here and is not counted. */
export function enableCors(app: NestFastifyApplication, { corsOrigins }: Settings): void {
  app.enableCors({
    origin: corsOrigins.includes('*') ? '*' : corsOrigins,
    exposedHeaders: EXPOSED_HEADERS,
    // It would answer every OPTIONS request, uncounted. One that is no preflight is a method like any other: 405.
    preflight: false,
  });
  const limiter = app.get(RequestLimiter);
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!isPreflight(request)) {
      done();
      return;
    }
    void Promise.resolve(limiter.headersFor(request, 204)).then((headers) =>
      reply.status(204).headers(headers).headers(preflightHeaders(request)).send(),
    );
  });
}

/** As the fetch standard has it: an OPTIONS request with these two header fields. */
function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

function preflightHeaders({ headers }: FastifyRequest): Record<string, string> {
  const asked = headers['access-control-request-headers'];
  return {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
    Vary: 'Origin, Access-Control-Request-Headers',
    ...(asked === undefined ? {} : { 'Access-Control-Allow-Headers': asked }),
  };
}
