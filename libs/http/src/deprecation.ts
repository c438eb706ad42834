import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { defineError } from './errors';
import { Documented } from './notes';
import { routeOf } from './routes';

/** The announced removal of an operation. */
export interface Deprecation {
  /** Day since which the operation is deprecated, `YYYY-MM-DD` (UTC). */
  since: string;
  /** Day from which it may be removed, `YYYY-MM-DD` (UTC). */
  sunset: string;
  /** Where the deprecation is explained. */
  documentation: string;
  /** The replacement's target; `{name}` stands for the path parameter of that name. */
  successor: string;
}

/** Valid parameters are shorter. A longer one must not fill a header field. */
const MAX_ECHOED = 64;

function instantOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Unix milliseconds; operations with a sunset until then are gone. Absent if they still answer. */
    goneUntil?: number;
  }
}

export function isGone({ sunset }: Deprecation, { goneUntil }: FastifyRequest): boolean {
  return goneUntil !== undefined && goneUntil >= instantOf(sunset).getTime();
}

/**
 * The header fields of every response of a deprecated operation: `Deprecation` (RFC 9745: a structured-field date),
 * `Sunset` (RFC 8594: an HTTP date) and `Link` with the relations `deprecation` (RFC 9745) and `successor-version` (RFC
 * 5829).
 * @returns a function that makes them from a request's path parameters
 */
export function announcementOf(
  deprecation: Deprecation,
): (parameters: Readonly<Record<string, string>>) => Record<string, string> {
  const since = `@${instantOf(deprecation.since).getTime() / 1000}`;
  const sunset = instantOf(deprecation.sunset).toUTCString();
  const explained = `<${deprecation.documentation}>; rel="deprecation"; type="text/html"`;
  // Alternately text and parameter names.
  const parts = deprecation.successor.split(/\{(\w+)\}/);
  return (parameters) => {
    const successor = parts
      .map((part, index) => (index % 2 === 0 ? part : echoed(parameters[part])))
      .join('');
    return {
      Deprecation: since,
      Sunset: sunset,
      Link: `${explained}, <${successor}>; rel="successor-version"`,
    };
  };
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

interface DeprecationConfig {
  deprecation?: Deprecation;
  announcement?: ReturnType<typeof announcementOf>;
}

/** Announces the removal in the document and, through the route's configuration, in the header fields of every response. */
export function Deprecated(deprecation: Deprecation): MethodDecorator {
  const announcement = announcementOf(deprecation);
  const config: DeprecationConfig = { deprecation, announcement };
  return applyDecorators(
    RouteConfig(config),
    ApiExtension('x-deprecated-sunset', deprecation.sunset),
    Documented({
      headers: { readable: exampleHeaders(deprecation, announcement) },
      errors: [OperationGoneError],
    }),
  );
}

const LINK =
  'The deprecation, as `rel="deprecation"` (RFC 9745), and the successor, as `rel="successor-version"` (RFC 5829).';

/** The header fields as they read for the first resource. */
function exampleHeaders({ successor }: Deprecation, announcement: ReturnType<typeof announcementOf>) {
  const parameters = [...successor.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, '1'] as const);
  const fields = announcement(Object.fromEntries(parameters) as Record<string, string>);
  return Object.entries(fields).map(([name, example]) => ({
    name,
    example,
    ...(name === 'Link' ? { description: LINK, required: true } : {}),
  }));
}

/** The deprecation of the operation that a request was routed to, if any. */
export function deprecationOf(request: FastifyRequest): Deprecation | undefined {
  return (routeOf(request).config as DeprecationConfig).deprecation;
}

/** The deprecation headers of a request; undefined if its operation is not deprecated. */
export function deprecationHeadersOf(request: FastifyRequest): Record<string, string> | undefined {
  const { announcement } = routeOf(request).config as DeprecationConfig;
  return announcement?.(request.params as Record<string, string>);
}
