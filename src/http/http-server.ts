import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import {
  AllowedMethods,
  deferBodyParsing,
  repairRequestTarget,
  requestIdOf,
  routeOf,
  type SocketResponse,
  takeOverNodeResponses,
  takeTurn,
} from '#libs/http';
import { RequestLimiter } from '../modules/quotas';
import type { Settings } from '../settings';
import { Admission, isPreflight } from './admission';

export interface ServerTimeouts {
  /** How long a request may take to arrive; then the response is 408. */
  headersMs: number;
  requestMs: number;
  /**
   * How long a connection with an unsent response may make no progress before it is closed, because nobody reads it.
   */
  standstillMs: number;
}

const DEFAULT_TIMEOUTS: ServerTimeouts = { headersMs: 15_000, requestMs: 30_000, standstillMs: 60_000 };

/** The HTTP server. Overrides defaults of Node and Fastify that callers would notice. */
export function createHttpAdapter(
  settings: Settings,
  logger: FastifyBaseLogger,
  timeouts: Partial<ServerTimeouts> = {},
): FastifyAdapter {
  const { headersMs, requestMs, standstillMs } = { ...DEFAULT_TIMEOUTS, ...timeouts };
  return new FastifyAdapter({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    rewriteUrl: (request: IncomingMessage) => repairRequestTarget(request.url ?? '/'),
    trustProxy: settings.trustProxy.length > 0 ? settings.trustProxy : false,
    // An overlong identifier is a bad value (400), not an unknown path; Node limits the whole target.
    routerOptions: { maxParamLength: 16_384 },
    // There is no middleware, and its engine would run for every request.
    skipMiddie: true,
    // While closing, requests on open connections are still answered.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: requestMs,
    connectionTimeout: standstillMs,
    http: {
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.min(1_000, headersMs),
      requireHostHeader: false,
    },
  });
}

/** All HTTP behaviour outside of operations. Call it before the routes are registered. */
export function configureHttp(app: NestFastifyApplication, settings: Settings): void {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  app.get(AllowedMethods).watch(fastify);
  deferBodyParsing(fastify);
  // Nest's own hooks answer some requests before any hook added here; this one runs before them.
  (app.getHttpAdapter() as unknown as FastifyAdapter).setOnRequestHook((request, reply, done) => {
    void reply.headers({ 'X-Request-Id': request.id, 'Cache-Control': 'private, no-cache' });
    takeTurn(request.raw, done);
  });
  const limiter = app.get(RequestLimiter);
  allowOrigins(fastify, settings);
  app.get(Admission).watch(fastify);
  takeOverNodeResponses(fastify, socketResponse(limiter));
  respondToPreflights(fastify, limiter);
  logRequests(fastify);
}

/** Malformed HTTP counts against its address, and is refused over the limit like a request. */
function socketResponse(limiter: RequestLimiter): SocketResponse {
  return async (error, address) => {
    const { refusal, headers } = await limiter.takeAddress(address);
    const fields = { ...headers, 'X-Request-Id': randomUUID(), 'Cache-Control': 'private, no-cache' };
    return { error: refusal ?? error, headers: fields };
  };
}

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
function allowOrigins(fastify: FastifyInstance, { corsOrigins: allowed }: Settings): void {
  fastify.addHook('onRequest', ({ headers }, reply, done) => {
    const { origin } = headers;
    // Responses differ by origin, and caches must know.
    void reply.header('Vary', 'Origin');
    if (origin !== undefined && (allowed.includes('*') || allowed.includes(origin))) {
      void reply.header('Access-Control-Allow-Origin', allowed.includes('*') ? '*' : origin);
      void reply.header('Access-Control-Expose-Headers', EXPOSED);
    }
    done();
  });
}

/** Answers preflights, which are not counted. */
function respondToPreflights(fastify: FastifyInstance, limiter: RequestLimiter): void {
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

function preflightHeaders({ headers }: FastifyRequest): Record<string, string> {
  const asked = headers['access-control-request-headers'];
  return {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
    Vary: 'Origin, Access-Control-Request-Headers',
    ...(asked === undefined ? {} : { 'Access-Control-Allow-Headers': asked }),
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's trace id, 32 hexadecimal digits; set only if tracing is on. */
    traceId?: string;
  }
}

/**
 * Logs one line per request. It names the operation by its route pattern, because a path or a query may contain
 * secrets.
 */
function logRequests(fastify: FastifyInstance): void {
  // A child logger per request costs more than the line, which has the request id itself.
  fastify.setChildLoggerFactory((logger) => logger);
  fastify.addHook('onResponse', (request, reply, done) => {
    log(request, { status: reply.statusCode, ms: Math.round(reply.elapsedTime * 10) / 10 });
    done();
  });
  fastify.addHook('onRequestAbort', (request, done) => {
    // A request that was waiting for others on its connection has not started, and was not counted.
    if (request.caller !== undefined) {
      log(request, { disconnected: true });
    }
    done();
  });
}

/** @param outcome the status and the duration, or that the caller disconnected before the response was sent */
function log(request: FastifyRequest, outcome: object): void {
  const holder = request.caller?.holder;
  request.log.info(
    {
      reqId: request.id,
      method: request.method,
      operation: routeOf(request).url ?? 'unknown',
      ...outcome,
      clientId: holder?.clientId,
      keyId: holder?.keyId,
      traceId: request.traceId,
    },
    'request',
  );
}
