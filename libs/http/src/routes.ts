// What a request was routed to, the methods of its path, and the announced removal of its operation.
import { applyDecorators } from '@nestjs/common';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyContextConfig, FastifyRequest, HTTPMethods } from 'fastify';
import { defineError } from './errors';
import { Documented } from './notes';

/**
 * What the configuration of its route says of a request, also of one that fails before any guard. The facts of several
 * decorators add up, as those of Nest's `RouteConfig` do not.
 */
export function AddRouteConfig(facts: FastifyContextConfig): MethodDecorator {
  return (_target, _key, { value: handler }) => {
    const all = { ...routeConfigOf(handler as object), ...facts };
    Reflect.defineMetadata(FASTIFY_ROUTE_CONFIG_METADATA, all, handler as object);
  };
}

export function routeConfigOf(handler: object): FastifyContextConfig | undefined {
  return Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as FastifyContextConfig | undefined;
}

/** The methods of a request's path, joined for `Allow`; null for an unknown path. */
export function allowedMethodsOf({ server, url }: FastifyRequest): string | null {
  const methods = server.supportedMethods.toSorted().filter((method) => {
    const found = server.findRoute({ method: method as HTTPMethods, url }) as { params: object } | null;
    // The router finds `/pets/` as a pet without an id.
    return found !== null && !Object.values(found.params).includes('');
  });
  return methods.length === 0 ? null : methods.join(', ');
}

/** The announced removal of an operation. */
export interface Deprecation {
  /** Day since which the operation is deprecated, `YYYY-MM-DD` (UTC). */
  since: string;
  /** Day from which it may be removed, `YYYY-MM-DD` (UTC). */
  sunset: string;
  /** Where the deprecation is explained. */
  documentation: string;
  /** The replacement's target; `{name}` in it stands for the operation's path parameter. */
  successor: string;
}

/** Valid parameters are shorter. What is longer may be a key that was sent in the wrong place. */
const MAX_ECHOED = 30;

declare module 'fastify' {
  interface FastifyContextConfig {
    deprecation?: Deprecation;
  }
  interface FastifyRequest {
    /** Unix milliseconds; operations with a sunset until then are gone. Absent if they still answer. */
    goneUntil?: number;
  }
}

export function isGone({ sunset }: Deprecation, { goneUntil }: FastifyRequest): boolean {
  return goneUntil !== undefined && goneUntil >= Date.parse(sunset);
}

/**
 * The header fields of every response of a deprecated operation: `Deprecation` (RFC 9745: a structured-field date),
 * `Sunset` (RFC 8594: an HTTP date) and `Link` with the relations `deprecation` (RFC 9745) and `successor-version` (RFC
 * 5829).
 */
function announcementOf(
  deprecation: Deprecation,
  prefix: string,
  parameter?: string,
): Record<string, string> {
  const explained = `<${prefix}${deprecation.documentation}>; rel="deprecation"; type="text/html"`;
  const replaced = `<${prefix}${successorOf(deprecation, echoed(parameter))}>; rel="successor-version"`;
  return {
    Deprecation: `@${Date.parse(deprecation.since) / 1000}`,
    Sunset: new Date(deprecation.sunset).toUTCString(),
    Link: `${explained}, ${replaced}`,
  };
}

/** The target of the replacement, for the resource that the path parameter names. */
export function successorOf({ successor }: Deprecation, parameter: string): string {
  return successor.replace(/\{\w+\}/, parameter);
}

function echoed(parameter = ''): string {
  // A decoded parameter may contain an unpaired surrogate, which encodeURIComponent would reject.
  return encodeURIComponent(parameter.slice(0, MAX_ECHOED).toWellFormed());
}

export const OperationGoneError = defineError({
  code: 'operation_gone',
  status: 410,
  when: 'The operation was deprecated and its sunset has passed. `Link` names its successor.',
  message: () => 'This operation is gone. The Link header names its successor.',
  example: [],
});

/** Announces the removal in the document and, through the route's configuration, in the header fields of every response. */
export function Deprecated(deprecation: Deprecation): MethodDecorator {
  return applyDecorators(
    AddRouteConfig({ deprecation }),
    ApiExtension('x-deprecated-sunset', deprecation.sunset),
    Documented({ always: ['Deprecation', 'Sunset', 'Link'], errors: [OperationGoneError] }),
  );
}

/** The deprecation of the operation that a request was routed to, if any. */
export function deprecationOf(request: FastifyRequest): Deprecation | undefined {
  return request.routeOptions.config.deprecation;
}

/** The deprecation headers of a request; undefined if its operation is not deprecated. */
export function deprecationHeadersOf(request: FastifyRequest): Record<string, string> | undefined {
  const deprecation = deprecationOf(request);
  if (deprecation === undefined) {
    return undefined;
  }
  const [parameter] = Object.values(request.params as Record<string, string>);
  return announcementOf(deprecation, request.prefix, parameter);
}
