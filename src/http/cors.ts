import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestLimiter } from '../modules/quotas';
import type { Settings } from '../settings';

/** Response header fields that scripts of other origins may read; browsers hide all others. */
const EXPOSED = [
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
].join(', ');

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = 600;

/** Lets pages of the configured origins read responses. Requests without `Origin` do not need these fields. */
export function allowOrigins(fastify: FastifyInstance, { corsOrigins }: Settings): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    allowOrigin(request, reply, corsOrigins);
    done();
  });
}

/** Answers preflights, which are not counted. */
export function respondToPreflights(fastify: FastifyInstance, limiter: RequestLimiter): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!isPreflight(request)) {
      done();
      return;
    }
    void Promise.resolve(limiter.headersFor(request, 204)).then(
      (headers) => reply.status(204).headers(headers).headers(preflightHeaders(request)).send(),
      done,
    );
  });
}

function allowOrigin({ headers }: FastifyRequest, reply: FastifyReply, allowed: string[]): void {
  const { origin } = headers;
  // Responses differ by origin, and caches must know.
  void reply.header('Vary', 'Origin');
  if (origin !== undefined && (allowed.includes('*') || allowed.includes(origin))) {
    void reply.header('Access-Control-Allow-Origin', allowed.includes('*') ? '*' : origin);
    void reply.header('Access-Control-Expose-Headers', EXPOSED);
  }
}

/** An OPTIONS request with these two header fields, as the Fetch standard defines it. */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
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
