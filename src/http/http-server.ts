import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import {
  AllowedMethods,
  type SocketResponse,
  deferBodyParsing,
  repairRequestTarget,
  requestIdOf,
  takeOverNodeResponses,
  takeTurn,
} from '#libs/http';
import { RequestLimiter } from '../modules/quotas';
import type { Settings } from '../settings';
import { Admission } from './admission';
import { allowOrigins, respondToPreflights } from './cors';
import { logRequests } from './request-log';

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
  const admission = app.get(Admission);
  allowOrigins(fastify, settings);
  admission.watch(fastify);
  takeOverNodeResponses(fastify, socketResponse(admission));
  respondToPreflights(fastify, app.get(RequestLimiter));
  logRequests(fastify);
}

/** Malformed HTTP counts against its address, and is refused over the limit like a request. */
function socketResponse(admission: Admission): SocketResponse {
  return async (error, address) => {
    const { refusal, headers } = await admission.admitAddress(address);
    const fields = { ...headers, 'X-Request-Id': randomUUID(), 'Cache-Control': 'private, no-cache' };
    return { error: refusal ?? error, headers: fields };
  };
}
