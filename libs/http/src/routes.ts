import type { FastifyInstance, FastifyRequest } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';

const ROUTE = Symbol('route');

type Route = FastifyRequest['routeOptions'];

/**
 * `request.routeOptions`, cached because Fastify rebuilds it at each read. It is read a second time only if no route
 * matches in the end (`/pets/` begins as `/pets/:petId`).
 */
export function routeOf(request: FastifyRequest): Route {
  const known = request as FastifyRequest & { [ROUTE]?: Route };
  const route = known[ROUTE];
  if (route !== undefined && (route.url === undefined) === request.is404) {
    return route;
  }
  return (known[ROUTE] = request.routeOptions);
}

/** Nobody is limited in how long a parameter is: an overlong identifier is a bad value (400), not an unknown path. */
export const MAX_PARAM_LENGTH = 16_384;

/**
 * The methods of each path, for the `Allow` of a 405. A second router of Fastify's kind, because Fastify finds a route by its
 * pattern only, not by a path.
 */
export class AllowedMethods {
  private readonly router = findMyWay({ maxParamLength: MAX_PARAM_LENGTH });
  private readonly methods = new Set<HTTPMethod>();

  /** Must be called before the routes are registered. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ url, method }) => {
      for (const one of [method].flat() as HTTPMethod[]) {
        this.methods.add(one);
        this.router.on(one, url, () => undefined);
      }
    });
  }

  /** @returns the methods of this path, joined for `Allow`; null for an unknown path */
  of(target: string): string | null {
    // The router finds `/pets/` as a pet without an id.
    const methods = [...this.methods].filter((method) => {
      const found = this.router.find(method, target);
      return found !== null && !Object.values(found.params).includes('');
    });
    return methods.length === 0 ? null : methods.join(', ');
  }
}
