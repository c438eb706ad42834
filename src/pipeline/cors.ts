import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
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

const PREFLIGHT_SECONDS = 600;

/** Lets pages of the configured origins call the service. A preflight is answered here and is not counted. */
export function enableCors(app: NestFastifyApplication, { corsOrigins }: Settings): void {
  app.enableCors({
    origin: corsOrigins.includes('*') ? '*' : corsOrigins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    // An OPTIONS request that is no preflight is answered alike: what the path takes does not depend on it.
    strictPreflight: false,
  });
  const limiter = app.get(RequestLimiter);
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  fastify.addHook('onSend', async (request, reply) => {
    if (request.method === 'OPTIONS' && !reply.hasHeader('RateLimit')) {
      void reply.headers(await limiter.headersFor(request, reply.statusCode));
    }
  });
}
