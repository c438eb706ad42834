// Sends what handlers return: resources with an ETag, and pages with a link to the next page.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { applyDecorators } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PreconditionFailedError } from './errors';
import { trimmed } from './message';
import { AddRouteConfig, type Deprecation, Documented, isGone, successorOf } from './routes';

type ResponseBody = string | Promise<Buffer> | undefined;

export const JSON_TYPE = 'application/json; charset=utf-8';

export function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** One page of a list or of the event feed. Do not modify a page, because several requests may share it. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** The cursor of the next page; null if no entries follow. */
  readonly cursor: string | null;
}

export interface RepresentationOptions {
  /** Default: 200. A response with 201 has a `Location`: the operation's path and the new id. */
  status?: 200 | 201 | 202;
  /** The deprecation of the GET for the path in `Location`, if that GET is deprecated. */
  deprecatedRead?: Deprecation;
  /** Returns the resource as a GET would. Needed if this operation returns more than the GET, such as a secret. */
  asRead?: (resource: never) => object;
  /**
   * The query parameter that selects entries by id. A page of one such entry has the entry's ETag, which the caller can
   * send in `If-Match`.
   */
  single?: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How to send what the handler returns. Absent if the handler's result is sent unchanged. */
    representation?: RepresentationOptions & { isPage: boolean };
    checksConditions?: true;
  }
}

export function represent(result: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
  const { representation } = request.routeOptions.config;
  if (representation === undefined) {
    return answersNotModified(request, reply, null) ? undefined : result;
  }
  const { isPage, status, deprecatedRead, asRead, single } = representation;
  if (isPage) {
    return sendPage(result as Page<object>, single, request, reply);
  }
  const resource = result as { id: number };
  if (status === 201) {
    void reply.header('Location', locationOf(resource, request, deprecatedRead));
  }
  return sendResource(resource, asRead?.(resource as never) ?? resource, request, reply);
}

function sendResource(
  resource: object,
  tagged: object,
  request: FastifyRequest,
  reply: FastifyReply,
): ResponseBody {
  const body = JSON.stringify(resource);
  const tag = entityTag(tagged === resource ? body : JSON.stringify(tagged));
  const notModified = answersNotModified(request, reply, tag);
  void reply.header('ETag', tag);
  return notModified ? undefined : asJson(body, reply);
}

function sendPage(
  page: Page<object>,
  single: string | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): ResponseBody {
  const { entries, cursor } = page;
  if (single !== undefined && entries.length === 1 && asksForOne(request.query as object, single)) {
    return sendResource(entries, entries[0]!, request, reply);
  }
  const notModified = answersNotModified(request, reply, null);
  if (cursor !== null) {
    void reply.header('Link', nextLink(request, cursor));
  }
  return notModified ? undefined : asJson(bodyOf(page), reply);
}

function asksForOne(query: object, parameter: string): boolean {
  const [[name, value] = [], ...others] = Object.entries(query);
  return name === parameter && typeof value === 'string' && others.length === 0;
}

/** Bodies with more characters are sent one by one, so that short responses need not wait for many long ones. */
const LONG_BODY = 64 * 1024;
const pageBodies = new WeakMap<Page<object>, string | Buffer>();

function bodyOf(page: Page<object>): string | Buffer {
  let body = pageBodies.get(page);
  if (body === undefined) {
    const text = JSON.stringify(page.entries);
    body = text.length > LONG_BODY ? Buffer.from(text) : text;
    pageBodies.set(page, body);
  }
  return body;
}

let lastTurn: Promise<unknown> = Promise.resolve();

async function inTurn(body: Buffer): Promise<Buffer> {
  lastTurn = lastTurn.then(() => setImmediate());
  await lastTurn;
  return body;
}

function asJson(body: string | Buffer, reply: FastifyReply): ResponseBody {
  void reply.type(JSON_TYPE);
  return typeof body === 'string' ? body : inTurn(body);
}

/** Returns the value of `Location`: the collection's path and the new id (RFC 9110, section 10.2.2). */
function locationOf({ id }: { id: number }, request: FastifyRequest, read?: Deprecation): string {
  const path =
    read && isGone(read, request) ? successorOf(read, String(id)) : `${request.routeOptions.url}/${id}`;
  return request.prefix + path;
}

/** Returns the value of `Link` that leads to the same request with another cursor. */
export function nextLink({ prefix, params, query, routeOptions }: FastifyRequest, cursor: string): string {
  const path = routeOptions.url!.replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent((params as Record<string, string>)[name]!),
  );
  // Write the parsed query again: other programs may parse the caller's text, such as `?name=a?b`, differently.
  const others = Object.entries(query as Record<string, string | string[]>)
    .filter(([name]) => name !== 'cursor')
    .flatMap(([name, values]) => [values].flat().map((value) => `${name}=${encodeURIComponent(value)}&`));
  return `<${prefix}${path}?${others.join('')}cursor=${cursor}>; rel="next"`;
}

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
 * Returns true if `If-None-Match` matches the current ETag by weak comparison. The response is then 304 for a read and
 * 412 for a change.
 * @param tag the current ETag of the resource; null if the path has no ETag
 * @throws PreconditionFailedError if `If-Match` does not match
 */
export function isNotModified(conditions: Conditions, tag: string | null): boolean {
  const { 'if-match': ifMatch = '*', 'if-none-match': ifNoneMatch } = conditions;
  if (trimmed(ifMatch) !== '*') {
    const tags = tagsOf(ifMatch);
    if (tag === null || !tags.includes(tag)) {
      throw new PreconditionFailedError(mismatchOf(tags, tag));
    }
  }
  return (
    ifNoneMatch !== undefined &&
    (trimmed(ifNoneMatch) === '*' || tagsOf(ifNoneMatch).some((one) => one.replace(/^W\//, '') === tag))
  );
}

function answersNotModified(request: FastifyRequest, reply: FastifyReply, tag: string | null): boolean {
  const notModified = isRead(request) && isNotModified(request.headers, tag);
  if (notModified) {
    void reply.status(304);
  }
  return notModified;
}

/**
 * Checks `If-Match` and `If-None-Match` of a change. Call this function while the row is locked, so that the resource
 * cannot change after the check.
 * @param resource what a GET would return at this moment; null if the path has no ETag
 * @throws PreconditionFailedError if a condition is not met
 */
export function assertConditions(conditions: Conditions, resource: object | null): void {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = conditions;
  if (ifMatch === undefined && ifNoneMatch === undefined) {
    return;
  }
  if (isNotModified(conditions, resource && entityTag(JSON.stringify(resource)))) {
    throw new PreconditionFailedError(
      trimmed(ifNoneMatch!) === '*'
        ? 'The resource exists, and If-None-Match: * allows a change only if the resource does not exist.'
        : 'The resource was not changed, because its ETag is in If-None-Match.',
    );
  }
}

/**
 * Checks `If-Match` and `If-None-Match` of a request to a path without an ETag, such as a list, where no ETag can
 * match.
 * @throws PreconditionFailedError if a condition is not met
 */
export function assertPathConditions({ headers, server, routeOptions }: FastifyRequest): void {
  const isReadable = headers['if-none-match'] && server.hasRoute({ method: 'GET', url: routeOptions.url! });
  assertConditions(isReadable ? headers : { 'if-match': headers['if-match'] }, null);
}

/** Marks an operation that checks `If-Match` and `If-None-Match` itself. */
export function IfMatch(): MethodDecorator {
  return applyDecorators(
    AddRouteConfig({ checksConditions: true }),
    Documented({ parameters: ['If-Match'] }),
  );
}
