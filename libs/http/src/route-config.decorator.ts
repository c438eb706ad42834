import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';

/** Adds to the configuration of the handler's route (`routeOptions.config` of Fastify); Nest's own decorator replaces it. */
export function WithRouteConfig(config: object): MethodDecorator {
  return (target, key, descriptor) => {
    const known = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, descriptor.value as object) as object;
    RouteConfig({ ...known, ...config })(target, key as string, descriptor);
  };
}
