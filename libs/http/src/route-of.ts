import type { FastifyRequest } from 'fastify';

const ROUTE = Symbol('route');

type Route = FastifyRequest['routeOptions'];

/**
 * `request.routeOptions`, which Fastify puts together anew each time it is read: here once for each request, and once more
 * when the request turns out to be for nothing (`/pets/` begins as `/pets/:petId`).
 */
export function routeOf(request: FastifyRequest): Route {
  const known = request as FastifyRequest & { [ROUTE]?: Route };
  const route = known[ROUTE];
  if (route !== undefined && (route.url === undefined) === request.is404) {
    return route;
  }
  return (known[ROUTE] = request.routeOptions);
}
