import type { FastifyInstance, FastifyRequest } from 'fastify';
import { routeOf } from '#libs/http';

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
export function logRequests(fastify: FastifyInstance): void {
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
