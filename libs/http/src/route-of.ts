import type { FastifyRequest } from 'fastify';

const ROUTE = Symbol('route');

type Route = FastifyRequest['routeOptions'];

/** `request.routeOptions`, which Fastify puts together anew each time it is read: here once for each request. */
export function routeOf(request: FastifyRequest): Route {
  const known = request as FastifyRequest & { [ROUTE]?: Route };
  return (known[ROUTE] ??= request.routeOptions);
}
