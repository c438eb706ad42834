import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import type { FastifyRequest } from 'fastify';

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
