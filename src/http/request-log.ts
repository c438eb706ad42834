import type { FastifyInstance } from 'fastify';
import { routeOf } from '#libs/http';

declare module 'fastify' {
  interface FastifyRequest {
    /** The trace that the request belongs to, 32 hexadecimal digits; set while traces are sent somewhere. */
    traceId?: string;
  }
}

/** One line for each request. Names the operation by its pattern: a path or a query may hold what nobody should log. */
export function logRequests(fastify: FastifyInstance): void {
  // A logger of its own for each request costs more than the line; the line names the request itself.
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
