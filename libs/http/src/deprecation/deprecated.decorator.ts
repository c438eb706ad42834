import { applyDecorators } from '@nestjs/common';
import { ApiExtension, DECORATORS } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { WithRouteConfig, routeOf } from '../route';
import { documentErrors, documentHeaders } from '../openapi/operation-notes';
import { type Deprecation, OperationGoneError, announcementOf } from './deprecation';

interface DeprecationConfig {
  deprecation?: Deprecation;
  announcement?: ReturnType<typeof announcementOf>;
}

/**
 * Marks an operation as deprecated: in the document and, through the route's configuration, in the header fields of
 * every response. Place it above @Operation.
 */
export function Deprecated(deprecation: Deprecation): MethodDecorator {
  const announcement = announcementOf(deprecation);
  const config: DeprecationConfig = { deprecation, announcement };
  return applyDecorators(
    WithRouteConfig(config),
    markDeprecated,
    ApiExtension('x-deprecated-sunset', deprecation.sunset),
    documentHeaders('readable', ...exampleHeaders(deprecation, announcement)),
    documentErrors(OperationGoneError),
  );
}

const LINK =
  'Information about the deprecation, as `rel="deprecation"` (RFC 9745), and the successor, as `rel="successor-version"` (RFC 5829).';

/** The header fields as they read for the first resource. */
function exampleHeaders({ successor }: Deprecation, announcement: ReturnType<typeof announcementOf>) {
  const parameters = [...successor.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, '1'] as const);
  const fields = announcement(Object.fromEntries(parameters) as Record<string, string>);
  return Object.entries(fields).map(([name, example]) => ({
    name,
    example,
    ...(name === 'Link' ? { description: LINK } : {}),
  }));
}

const markDeprecated: MethodDecorator = (_target, _key, descriptor) => {
  const handler = descriptor.value as object;
  const operation = Reflect.getMetadata(DECORATORS.API_OPERATION, handler) as object;
  Reflect.defineMetadata(DECORATORS.API_OPERATION, { ...operation, deprecated: true }, handler);
};

/** The deprecation of the operation that a request was routed to, if any. */
export function deprecationOf(request: FastifyRequest): Deprecation | undefined {
  return (routeOf(request).config as DeprecationConfig).deprecation;
}

/** The deprecation headers of a request; undefined if its operation is not deprecated. */
export function deprecationHeadersOf(request: FastifyRequest): Record<string, string> | undefined {
  const { announcement } = routeOf(request).config as DeprecationConfig;
  return announcement?.(request.params as Record<string, string>);
}
