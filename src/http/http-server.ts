import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { Clock } from '#libs/clock';
import {
  AccountedRequest,
  AccountedResponse,
  Connections,
  MAX_BODY_BYTES,
  acceptJson,
  assertReadable,
  networkMatcher,
  originForm,
  prefixOf,
  type Refusal,
} from '#libs/http';
import { RequestLimiter, countedAddress } from '../modules/quotas';
import type { Settings } from '../settings/settings';
import { answerPreflight, isPreflight, originHeaders } from './cors';
import { settleLimits } from './settle-limits';
import { SimilarOperations } from './similar-operation';

/**
 * Timeouts in milliseconds: for the headers of a request, for the whole request, and for a connection without traffic.
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
    // Allow long parameters in a path, so that an overlong id gets a 400 for an invalid value instead of a 404.
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
      // Accept requests without the header `Host` here, because `assertReadable` refuses such requests later, with an
      // error in JSON.
      requireHostHeader: false,
    },
  });
}

function commonHeaders(requestId: string): Record<string, string> {
  return {
    'X-Request-Id': requestId,
    'Cache-Control': 'private, no-cache',
    'X-Content-Type-Options': 'nosniff',
  };
}

const ACCEPTED_ID = /^[A-Za-z0-9._-]{1,128}$/;

export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED_ID.test(given) ? given : randomUUID();
}

/** Adds everything about HTTP that is the same for all operations. Must be called before routes are registered. */
export function configureHttp(app: NestFastifyApplication, settings: Settings): Connections {
  const adapter = app.getHttpAdapter() as unknown as FastifyAdapter;
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  const limiter = app.get(RequestLimiter);
  const isProxy = networkMatcher(settings.trustProxy);
  const connections = acceptConnections(fastify, isProxy, limiter, refusalLog(fastify.log, app.get(Clock)));
  fastify.decorateRequest('prefix', {
    getter() {
      return prefixOf(this.raw, isProxy);
    },
  });
  acceptJson(fastify);
  prepareRoutes(fastify);
  // Set the common headers with `setOnRequestHook`, because Nest's own hooks may send a response before hooks of
  // Fastify run.
  adapter.setOnRequestHook((request, reply, done) => {
    void reply.headers(commonHeaders(request.id)).headers(originHeaders(request, settings.corsOrigins));
    done();
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    try {
      assertReadable(request.raw);
    } catch (error) {
      request.isMalformed = true;
      reply.raw.shouldKeepAlive = false;
      done(error as Error);
      return;
    }
    // Hide `Content-Type` from Fastify, which would refuse an unsupported type even without a body.
    request.headers['content-type'] = undefined;
    if (isPreflight(request)) {
      settleLimits(limiter, request, reply, 204)
        .then(() => answerPreflight(request, reply))
        .catch(done);
    } else {
      done();
    }
  });
  logRequests(fastify);
  return connections;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The paths of pages, documents and health checks, which need no key. */
    readonly publicPaths: Set<string>;
  }
  interface FastifyRequest {
    /** True if `assertReadable` has refused the request. */
    isMalformed?: boolean;
    /** The operation that a request for an unknown path probably means, for example `GET /pets`. */
    readonly similarOperation?: string;
    traceId?: string;
  }
}

/**
 * Prepares each route when the route is registered. Throws an error if the route has no access rule, and collects the
 * paths for `publicPaths` and for `similarOperation`.
 */
function prepareRoutes(fastify: FastifyInstance): void {
  fastify.decorate('publicPaths', new Set<string>());
  const similar = new SimilarOperations();
  fastify.addHook('onRoute', (route) => {
    if (route.config?.access === undefined) {
      throw new Error(
        `${String(route.method)} ${route.url} has no access rule. Decorate the controller with @ScopeByMethod(), or the operation with @Access().`,
      );
    }
    if (route.config.access === 'public') {
      fastify.publicPaths.add(route.url);
    }
    similar.add(route);
    if (route.method === 'HEAD') {
      // Do not run Fastify's hook for HEAD, which would set a wrong `Content-Length` on a 304.
      route.onSend = undefined;
    }
  });
  fastify.decorateRequest('similarOperation', {
    getter() {
      return similar.find(this);
    },
  });
}

function acceptConnections(
  { server }: FastifyInstance,
  isProxy: (address: string) => boolean,
  limiter: RequestLimiter,
  onRefusal: (reason: Refusal) => void,
): Connections {
  // 0 means no limit. Node's default of 2,000 counts names and values, so Node would ignore all headers after about a
  // thousand.
  server.maxHeadersCount = 0;
  const [handle] = server.listeners('request') as [RequestListener];
  return new Connections(server, {
    handle: (request, response) => {
      request.url = originForm(request);
      handle(request, response);
    },
    headersOf: async (socket) => ({
      ...(await limiter.headersOfAddress(socket.remoteAddress ?? '')),
      ...commonHeaders(randomUUID()),
    }),
    callerNameOf: (address) => (isProxy(address) ? undefined : countedAddress(address)),
    onRefusal,
  });
}

/** Minimum time, in milliseconds, between two log lines about connections that were closed for the same reason. */
const QUIET_MS = 60_000;

const REFUSALS: Record<Refusal, string> = {
  memory: 'unanswered requests and unread responses use all the memory that they may use',
  address: 'one address has half of all connections that may be open',
  total: 'the maximum number of connections is open',
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

/** Logs one line per request, with the route pattern instead of the path, because a path may contain secrets. */
function logRequests(fastify: FastifyInstance): void {
  // Do not create a child logger for each request, because this would take longer than writing the request's line to the log.
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
