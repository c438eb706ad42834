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
import { Clock } from '#libs/clock';
import {
  AccountedRequest,
  AccountedResponse,
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
  type Refusal,
} from '#libs/http';
import { RequestLimiter, countedAddress } from '../modules/quotas';
import type { Settings } from '../settings';
import { HEADERS } from './document/shared-components';
import { withoutDigest } from './document/shared-content';
import { METHODS } from './error.filter';
import { commonHeaders } from './response.interceptor';

/**
 * In milliseconds. If the header fields take longer than `headersMs` to arrive, or the whole request longer than
 * `requestMs`, the response is 408. A connection without any traffic for `standstillMs` is closed.
 */
const TIMEOUTS = { headersMs: 15_000, requestMs: 30_000, standstillMs: 60_000 };
export type ServerTimeouts = typeof TIMEOUTS;

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
    // Node limits the request line and all header fields together to 16 KiB. With the same limit here, an overlong
    // identifier is reported as an invalid value (400), not as an unknown path (404).
    routerOptions: { maxParamLength: 16_384 },
    skipMiddie: true,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: requestMs,
    connectionTimeout: standstillMs,
    http: {
      IncomingMessage: AccountedRequest,
      ServerResponse: AccountedResponse,
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.min(1_000, headersMs),
      // Node's own response to a request without `Host` has no Error body. `assertReadable` refuses such requests instead.
      requireHostHeader: false,
    },
  });
}

const ACCEPTED_ID = /^[A-Za-z0-9._-]{1,128}$/;

export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED_ID.test(given) ? given : randomUUID();
}

/**
 * Adds all HTTP behaviour that does not depend on the operation: connections, CORS, body parsing, request log. Call this
 * function before the routes are registered, because Fastify applies `onRoute` hooks only to later routes.
 */
export function configureHttp(app: NestFastifyApplication, settings: Settings): Connections {
  const adapter = app.getHttpAdapter() as unknown as FastifyAdapter;
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  const limiter = app.get(RequestLimiter);
  const isProxy = networkMatcher(settings.trustProxy);
  const connections = new Connections(fastify.server, (address) =>
    isProxy(address) ? undefined : countedAddress(address),
  );
  // By default Node drops all header fields after the first thousand, for example a precondition or `X-Forwarded-For`. 0
  // means no limit.
  fastify.server.maxHeadersCount = 0;
  receive(fastify, connections, limiter);
  connections.onRefusal = refusalLog(fastify.log, app.get(Clock));
  fastify.decorateRequest('prefix', {
    getter() {
      return prefixOf(this.raw, isProxy);
    },
  });
  acceptJson(fastify);
  watchRoutes(fastify);
  // Nest's own hooks answer some requests before the hooks that are added below. A hook that is set by this method runs
  // before Nest's hooks.
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
    // Fastify would refuse an unsupported `Content-Type` even if the request has no body. The parser of bodies checks the
    // raw header field instead.
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
    /**
     * True if the path belongs to a page, a document or a health check, whatever the method. Requests for such paths need
     * no key and are never limited or counted.
     */
    readonly isOutsideApi: boolean;
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
      // Node omits the body of a response to HEAD by itself. Fastify's hook for HEAD routes would set `Content-Length: 0`
      // on a 304, which is not the length of the resource (RFC 9110, section 8.6).
      route.onSend = undefined;
    }
  });
  fastify.decorateRequest('isOutsideApi', {
    getter() {
      const { is404, url, routeOptions } = this;
      const path = is404 ? withoutDigest(decodeURIComponent(url.split(/[?#]/, 1)[0]!)) : routeOptions.url!;
      return outside.has(path);
    },
  });
}

/**
 * Each reason for closing connections is logged at most once in this time, in milliseconds, so that a flood does not fill
 * the log.
 */
const QUIET_MS = 60_000;

const REFUSALS: Record<Refusal, string> = {
  memory: 'unanswered requests and unread responses take all the memory that they may take',
  address: 'one address has half of all connections that may be open',
  total: 'no more connections may be open',
};

function refusalLog(logger: FastifyBaseLogger, clock: Clock): (reason: Refusal) => void {
  const quietUntil = new Map<Refusal, number>();
  return (reason) => {
    if (clock.now() >= (quietUntil.get(reason) ?? 0)) {
      quietUntil.set(reason, clock.now() + QUIET_MS);
      logger.warn({ reason }, `Connections are closed because ${REFUSALS[reason]}.`);
    }
  };
}

/**
 * Replaces the server's listeners for requests, `Expect`, malformed requests and CONNECT. Node would otherwise answer some
 * of these with responses of its own, without the Error body, or drop the request.
 */
function receive({ server }: FastifyInstance, connections: Connections, limiter: RequestLimiter): void {
  const [handle] = server.listeners('request') as [RequestListener];
  const begin: RequestListener<typeof AccountedRequest, typeof AccountedResponse> = (request, response) => {
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

/**
 * Response header fields that scripts of other origins may read; browsers hide all others. `Date` is readable because the
 * reset times of the limits refer to the server's clock.
 */
const EXPOSED = [...Object.keys(HEADERS), 'Allow', 'Date']
  .filter((name) => !/^(Cache|Access)-Control/.test(name))
  .join(', ');

/**
 * Returns the header fields that let pages of the configured origins read the response. Every response has `Vary`, so that
 * a cache does not use a response without these fields for a request from a page.
 */
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

/**
 * Logs one line per request. The line names the operation by its route pattern, because a path or a query may contain
 * secrets.
 */
function logRequests(fastify: FastifyInstance): void {
  // Use the same logger for all requests: a child logger per request costs more than the line, and `log` adds the request
  // id itself.
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
