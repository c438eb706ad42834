import type { FastifyRequest } from 'fastify';
import { defineError } from './errors';

export interface Deprecation {
  /** The day since which the operation is deprecated, as `YYYY-MM-DD` in UTC. */
  since: string;
  /** The day from which the operation may be removed, as `YYYY-MM-DD` in UTC. */
  sunset: string;
  documentation: string;
  /**
   * The path of the operation that replaces the deprecated one, such as `/notes?id={noteId}` for `/notes/{noteId}`. The
   * value of the deprecated path's parameter takes the place of the braces.
   */
  successor: string;
}

/**
 * Maximum characters of a path parameter that a response repeats. A longer value is cut, because the value may be an
 * API key that the caller has sent in the wrong place.
 */
const MAX_ECHOED = 30;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The deprecation of the operation. `days` has its two days, formatted as values of the header fields. */
    deprecation?: Deprecation & { operationId: string; days: Record<'Deprecation' | 'Sunset', string> };
  }
}

export const OperationGoneError = defineError({
  code: 'operation_gone',
  status: 410,
  when: 'The operation was deprecated and its sunset has passed. `Link` names its successor.',
  message: 'This operation is gone. The Link header names its successor.',
});

const NO_HEADERS = {};

/** Returns the header fields of a deprecated operation (RFC 9745, RFC 8594, and RFC 5829 for the successor). */
export function deprecationHeadersOf(request: FastifyRequest): Record<string, string> {
  const { prefix, params, routeOptions } = request;
  const { deprecation } = routeOptions.config;
  if (deprecation === undefined) {
    return NO_HEADERS;
  }
  const [parameter = ''] = Object.values(params as Record<string, string>);
  // A decoded parameter may contain an unpaired surrogate, which `encodeURIComponent` would reject.
  const echoed = encodeURIComponent(parameter.slice(0, MAX_ECHOED).toWellFormed());
  const explained = `<${prefix}${deprecation.documentation}>; rel="deprecation"; type="text/html"`;
  const successor = deprecation.successor.replace(/\{\w+\}/, echoed);
  const replaced = `<${prefix}${successor}>; rel="successor-version"`;
  return { ...deprecation.days, Link: `${explained}, ${replaced}` };
}
