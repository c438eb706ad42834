import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';

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

/**
 * Adds to the configuration of the handler's route (`routeOptions.config` of Fastify); Nest's own decorator replaces
 * it.
 */
export function WithRouteConfig(config: object): MethodDecorator {
  return (target, key, descriptor) => {
    const known = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, descriptor.value as object) as object;
    RouteConfig({ ...known, ...config })(target, key as string, descriptor);
  };
}

/** The methods of each path, collected while routes are registered; for the `Allow` of a 405. */
export class AllowedMethods {
  private readonly routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  /** Must be called before the routes are registered. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', (route) => this.add(route));
  }

  /** @returns the methods of this path in the order of registration, joined for `Allow`; null for an unknown path */
  of(target: string): string | null {
    const path = pathOf(target);
    const methods = [...this.routes.values()]
      .filter((route) => route.pattern.test(path))
      .flatMap((route) => [...route.methods]);
    return methods.length === 0 ? null : [...new Set(methods)].join(', ');
  }

  private add(route: RouteOptions): void {
    if (route.url.includes('*')) {
      return;
    }
    const known = this.routes.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set<string>() };
    for (const method of [route.method].flat()) {
      known.methods.add(method);
    }
    this.routes.set(route.url, known);
  }
}

/**
 * The path as the router reads it: without origin (absolute form), query and fragment, and decoded except for `%2F` and
 * similar escapes.
 */
function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/]*\//, '/').split(/[?#]/, 1);
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** `/pets/:petId` → one segment for each parameter; everything else literally. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    return segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  // Built only from the service's own routes, never from input.
  // eslint-disable-next-line no-restricted-syntax
  return new RegExp(`^${segments.join('/')}$`);
}
