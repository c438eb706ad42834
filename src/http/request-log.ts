import type { FastifyInstance } from 'fastify';
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
    const holder = request.caller?.holder;
    request.log.info(
      {
        reqId: request.id,
        method: request.method,
        operation: routeOf(request).url ?? 'unknown',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        clientId: holder?.clientId,
        keyId: holder?.keyId,
        traceId: request.traceId,
      },
      'request',
    );
    done();
  });
}
