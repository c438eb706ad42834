import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import {
  AccountedRequest,
  ApiError,
  BadRequestError,
  Connections,
  MAX_BODY_BYTES,
  type ParserError,
  acceptJson,
  assertReadable,
  closeIfUnread,
  networkMatcher,
  originForm,
  prefixOf,
} from '#libs/http';
import { RequestLimiter, countedAddress } from '../modules/quotas';
import type { Settings } from '../settings';
import { HEADERS } from './document/shared-components';
import { METHODS } from './error.filter';
import { commonHeaders } from './response.interceptor';

/** Until 408: for the header fields, and for the whole request. And until a connection without progress is closed. */
const TIMEOUTS = { headersMs: 15_000, requestMs: 30_000, standstillMs: 60_000 };
export type ServerTimeouts = typeof TIMEOUTS;

/** The HTTP server. Overrides defaults of Node and Fastify that callers would notice. */
export function createHttpAdapter(
  settings: Settings,
  logger: FastifyBaseLogger,
  timeouts: Partial<ServerTimeouts> = {},
): FastifyAdapter {
  const { headersMs, requestMs, standstillMs } = { ...TIMEOUTS, ...timeouts };
  return new FastifyAdapter({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    trustProxy: settings.trustProxy.length > 0 && networkMatcher(settings.trustProxy),
    bodyLimit: MAX_BODY_BYTES,
    // As long as all header fields may be: an overlong identifier is a bad value (400), not an unknown path.
    routerOptions: { maxParamLength: 16_384 },
    // There is no middleware, and its engine would run for every request.
    skipMiddie: true,
    // While closing, requests on open connections are still answered.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: requestMs,
    connectionTimeout: standstillMs,
    http: {
      IncomingMessage: AccountedRequest,
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.min(1_000, headersMs),
      // Node's own response has no body; `assertReadable` refuses it.
      requireHostHeader: false,
    },
  });
}

const ACCEPTED_ID = /^[A-Za-z0-9._-]{1,128}$/;

export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED_ID.test(given) ? given : randomUUID();
}

/** All HTTP behaviour outside of operations. Call it before the routes are registered. */
export function configureHttp(app: NestFastifyApplication, settings: Settings): Connections {
  const adapter = app.getHttpAdapter() as unknown as FastifyAdapter;
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  const limiter = app.get(RequestLimiter);
  const isProxy = networkMatcher(settings.trustProxy);
  const connections = new Connections(fastify.server, (address) =>
    isProxy(address) ? undefined : countedAddress(address),
  );
  // By default Node drops fields after the first thousand, for example a precondition or `X-Forwarded-For`.
  fastify.server.maxHeadersCount = 0;
  receive(fastify, connections, limiter);
  fastify.decorateRequest('prefix', {
    getter() {
      return prefixOf(this.raw, isProxy);
    },
  });
  acceptJson(fastify);
  watchRoutes(fastify);
  // Nest's own hooks answer some requests before any hook added here; this one runs before them.
  adapter.setOnRequestHook((request, reply, done) => {
    void reply.headers(commonHeaders(request.id)).headers(originHeaders(request, settings.corsOrigins));
    done();
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    try {
      assertReadable(request.raw);
    } catch (error) {
      limiter.leaveUncounted(request);
      reply.raw.shouldKeepAlive = false;
      done(error as Error);
      return;
    }
    // Fastify would judge it even where there is no body; our parser reads what was sent.
    request.headers['content-type'] = undefined;
    const { origin, 'access-control-request-method': method } = request.headers;
    if (request.method === 'OPTIONS' && origin !== undefined && method !== undefined) {
      void answerPreflight(request, reply, limiter).catch(done);
    } else {
      done();
    }
  });
  logRequests(fastify);
  return connections;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the path, with any method, is a page, a document or a health check: without key, limits or count. */
    readonly isOutsideApi: boolean;
    /** The request's trace id, 32 hexadecimal digits; set only if tracing is on. */
    traceId?: string;
  }
}

function watchRoutes(fastify: FastifyInstance): void {
  const outside = new Set<string>();
  fastify.addHook('onRoute', (route) => {
    if ((route.config?.access ?? 'public') === 'public') {
      outside.add(route.url);
    }
    if (route.method === 'HEAD') {
      // Node omits the body by itself. Fastify's own way gives a 304 the length 0 (RFC 9110, section 8.6).
      route.onSend = undefined;
    }
  });
  fastify.decorateRequest('isOutsideApi', {
    getter() {
      const { is404, url, routeOptions } = this;
      return outside.has(is404 ? decodeURIComponent(url.split(/[?#]/, 1)[0]!) : routeOptions.url!);
    },
  });
}

/** Handles everything that arrives on a connection, so that Node answers or drops nothing by itself. */
function receive({ server }: FastifyInstance, connections: Connections, limiter: RequestLimiter): void {
  const [handle] = server.listeners('request') as [RequestListener];
  const begin: RequestListener<typeof AccountedRequest> = (request, response) => {
    request.url = originForm(request);
    connections.takeTurn(request, response, () => handle(request, response));
  };
  const refuse = (failure: ParserError | ApiError, socket: Socket): void => {
    const headers = async () => ({
      ...(await limiter.headersFor({ ip: socket.remoteAddress ?? '' }, 400)),
      ...commonHeaders(randomUUID()),
    });
    connections.refuse(socket, failure, headers).catch(() => socket.destroy());
  };
  server.removeAllListeners('request').on('request', begin).on('checkExpectation', begin);
  server.removeAllListeners('clientError').on('clientError', refuse);
  server.on('connect', ({ socket }) => refuse(new BadRequestError('The service is no proxy.'), socket));
}

/** Response header fields that scripts of other origins may read; browsers hide all others. `Date` is the clock of the limits. */
const EXPOSED = [...Object.keys(HEADERS), 'Allow', 'Date']
  .filter((name) => !/^(Cache|Access)-Control/.test(name))
  .join(', ');

/** Lets pages of the configured origins read the response. Requests without `Origin` do not need it, but caches must know. */
function originHeaders({ headers }: FastifyRequest, allowed: readonly string[]): Record<string, string> {
  const { origin = '' } = headers;
  const isAllowed = allowed.includes('*') || allowed.includes(origin);
  return origin === '' || !isAllowed
    ? { Vary: 'Origin' }
    : {
        Vary: 'Origin',
        'Access-Control-Allow-Origin': allowed.includes('*') ? '*' : origin,
        'Access-Control-Expose-Headers': EXPOSED,
      };
}

async function answerPreflight(
  request: FastifyRequest,
  reply: FastifyReply,
  limiter: RequestLimiter,
): Promise<void> {
  const { 'access-control-request-headers': asked } = request.headers;
  const headers = {
    ...(await limiter.headersFor(request, 204)),
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Max-Age': '600',
    Vary: 'Origin, Access-Control-Request-Headers',
    ...(asked === undefined ? {} : { 'Access-Control-Allow-Headers': asked }),
  };
  closeIfUnread(reply);
  void reply.status(204).headers(headers).send();
}

/** One line per request. It names the operation by its route pattern, because a path or a query may contain secrets. */
function logRequests(fastify: FastifyInstance): void {
  // A child logger per request costs more than the line, which has the request id itself.
  fastify.setChildLoggerFactory((logger) => logger);
  fastify.addHook('onResponse', (request, reply, done) => {
    log(request, { status: reply.statusCode, ms: Math.round(reply.elapsedTime * 10) / 10 });
    done();
  });
  fastify.addHook('onRequestAbort', (request, done) => {
    log(request, { disconnected: true });
    done();
  });
}

/** @param outcome the status and the duration, or that the caller disconnected before the response was sent */
function log(request: FastifyRequest, outcome: object): void {
  const key = request.client?.key;
  request.log.info(
    {
      reqId: request.id,
      method: request.method,
      operation: request.routeOptions.url ?? 'unknown',
      ...outcome,
      clientId: key?.clientId,
      keyId: key?.id,
      traceId: request.traceId,
    },
    'request',
  );
}
