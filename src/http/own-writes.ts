import type { FastifyInstance } from 'fastify';
import type { ReadReplicas } from '#libs/database';

const READING = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Where lists are read from replicas, a client still finds in them whatever it has written through this instance. The
 * client, and not its key: what one of its programs writes with one key, another reads with the next.
 */
export function showOwnWrites(fastify: FastifyInstance, replicas: ReadReplicas): void {
  fastify.addHook('preHandler', (request, _reply, done) => {
    replicas.onBehalfOf(() => request.caller?.holder?.clientId, done);
  });
  // Whatever the answer says: a failure may hide that the write was committed.
  fastify.addHook('onSend', (request, _reply, payload, done) => {
    const clientId = request.caller?.holder?.clientId;
    if (clientId !== undefined && !READING.includes(request.method)) {
      replicas.hasWritten(clientId);
    }
    done(null, payload);
  });
}
