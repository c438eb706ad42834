import type { FastifyReply, FastifyRequest } from 'fastify';
import { closeIfUnread } from '#libs/http';
import { HEADERS } from './document/components';

/** All methods that the API supports, for CORS preflights and for the 405 response to `OPTIONS *`. */
export const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/**
 * Response headers that scripts of other origins may read. Scripts need `Date` to interpret the reset times of rate
 * limits.
 */
const EXPOSED = [...Object.keys(HEADERS), 'Allow', 'Date']
  .filter((name) => !/^(Cache|Access)-Control/.test(name))
  .join(', ');

/**
 * Returns the CORS headers of a response. `Vary` keeps a cache from sending the response to a script of another origin.
 */
export function originHeaders(
  { headers }: FastifyRequest,
  allowed: readonly string[],
): Record<string, string> {
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

export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

export function answerPreflight(request: FastifyRequest, reply: FastifyReply): void {
  const { 'access-control-request-headers': asked } = request.headers;
  const headers = {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Max-Age': '600',
    Vary: 'Origin, Access-Control-Request-Headers',
    ...(asked === undefined ? {} : { 'Access-Control-Allow-Headers': asked }),
  };
  closeIfUnread(reply);
  void reply.status(204).headers(headers).send();
}
