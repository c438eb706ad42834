// This file makes ETags, and checks the conditions of requests: `If-Match` and `If-None-Match` (RFC 9110, section 13).
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { applyDecorators } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PreconditionFailedError } from './errors';
import { isRead, trimmed } from './message';
import { AddRouteConfig, Documented } from './routes';

/** Returns the strong ETag of a body, with its quotes. Equal ETags mean equal bytes (RFC 9110, section 8.8.3). */
export function entityTag(body: string | Buffer): string {
  return `"${hash('sha1', body, 'base64url').slice(0, 22)}"`;
}

type Conditions = Pick<IncomingHttpHeaders, 'if-match' | 'if-none-match'>;

/** Splits `If-Match` or `If-None-Match` into its ETags. An ETag may contain a comma, so split(',') would be wrong. */
function tagsOf(field: string): string[] {
  return field.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

function mismatchOf(tags: string[], tag: string | null): string {
  if (tag === null) {
    return 'This path has no ETag. Send the request without If-Match, or with If-Match: *.';
  }
  if (tags.length === 0) {
    return 'If-Match has no ETag in double quotes. Send the ETag of a response with its quotes.';
  }
  return tags.every((one) => one.startsWith('W/'))
    ? 'A weak ETag (W/"…") never matches in If-Match. Send the strong ETag ("…") of a response that no proxy has compressed.'
    : 'The resource has none of the ETags in If-Match. Get it again and send its new ETag.';
}

/**
 * @param tag the current ETag of the resource; null if the path has no ETag
 * @throws PreconditionFailedError if `If-Match` does not match
 */
function assertIfMatch({ 'if-match': ifMatch = '*' }: Conditions, tag: string | null): void {
  if (trimmed(ifMatch) === '*') {
    return;
  }
  const tags = tagsOf(ifMatch);
  if (tag === null || !tags.includes(tag)) {
    throw new PreconditionFailedError(mismatchOf(tags, tag));
  }
}

/**
 * Returns true if `If-None-Match` matches the current ETag by weak comparison. The response is then 304 for a read and
 * 412 for a change.
 * @param tag the current ETag of the resource; null if the path has no ETag
 */
function matchesIfNoneMatch({ 'if-none-match': field }: Conditions, tag: string | null): boolean {
  return (
    field !== undefined &&
    (trimmed(field) === '*' || tagsOf(field).some((one) => one.replace(/^W\//, '') === tag))
  );
}

/**
 * Applies `If-Match` and `If-None-Match` of a read. If `If-None-Match` matches, sets the status 304 and returns true.
 * Returns false for a change, whose conditions `assertConditions` checks.
 * @param tag the current ETag of the resource; null if the path has no ETag
 * @throws PreconditionFailedError if `If-Match` of a read does not match
 */
export function applyReadConditions(
  request: FastifyRequest,
  reply: FastifyReply,
  tag: string | null,
): boolean {
  if (!isRead(request)) {
    return false;
  }
  assertIfMatch(request.headers, tag);
  const isNotModified = matchesIfNoneMatch(request.headers, tag);
  if (isNotModified) {
    void reply.status(304);
  }
  return isNotModified;
}

export function hasConditions({ headers }: FastifyRequest): boolean {
  return headers['if-match'] !== undefined || headers['if-none-match'] !== undefined;
}

/**
 * Checks `If-Match` and `If-None-Match` of a change. Call this function while the row is locked, so that the resource
 * cannot change after the check.
 * @param resource what a GET would return at this moment; null if the path has no ETag, such as the path of a list
 * @throws PreconditionFailedError if a condition is not met
 */
export function assertConditions(request: FastifyRequest, resource: object | null): void {
  const { headers, server, routeOptions } = request;
  const tag = resource && entityTag(JSON.stringify(resource));
  assertIfMatch(headers, tag);
  // `If-None-Match: *` matches a path without an ETag only if a GET finds something there.
  const exists = resource !== null || server.hasRoute({ method: 'GET', url: routeOptions.url! });
  if (exists && matchesIfNoneMatch(headers, tag)) {
    throw new PreconditionFailedError(
      trimmed(headers['if-none-match']!) === '*'
        ? 'The resource exists, and If-None-Match: * allows a change only if the resource does not exist.'
        : 'The resource was not changed, because its ETag is in If-None-Match.',
    );
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    checksConditions?: true;
  }
}

/**
 * Marks an operation that changes one resource with an ETag. Its `If-Match` and `If-None-Match` are checked against this
 * ETag. For a change without this decorator, they are checked as for a path without an ETag.
 */
export function ChecksConditions(): MethodDecorator {
  return applyDecorators(
    AddRouteConfig({ checksConditions: true }),
    Documented({ requestHeaders: ['If-Match'] }),
  );
}
