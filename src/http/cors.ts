import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestLimiter } from '../modules/quotas';
import type { Settings } from '../settings';

/** What a script of another origin may read of an answer; the fetch standard hides everything else. */
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

/** Lets pages of the configured origins read what the service answers. Who names no origin would not look at the fields. */
export function allowOrigins(fastify: FastifyInstance, { corsOrigins }: Settings): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    allowOrigin(request, reply, corsOrigins);
    done();
  });
}

/** Answers preflights, which are not counted. */
export function answerPreflights(fastify: FastifyInstance, limiter: RequestLimiter): void {
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

function allowOrigin({ headers }: FastifyRequest, reply: FastifyReply, allowed: string[]): void {
  const { origin } = headers;
  // Answers differ by the origin, and whoever stores one has to know.
  void reply.header('Vary', 'Origin');
  if (origin !== undefined && (allowed.includes('*') || allowed.includes(origin))) {
    void reply.header('Access-Control-Allow-Origin', allowed.includes('*') ? '*' : origin);
    void reply.header('Access-Control-Expose-Headers', EXPOSED);
  }
}

/** As the fetch standard has it: an OPTIONS request with these two header fields. */
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
