// How results are sent: resources with their ETag, pages with the link to the next one; and the conditions of requests.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { applyDecorators } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PreconditionFailedError } from './errors';
import { trimmed } from './message';
import { AddRouteConfig, type Deprecation, Documented, isGone, successorOf } from './routes';

/** Undefined means no body. */
type Sent = string | Promise<Buffer> | undefined;

/** The content type of a representation that is already text. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** GET and HEAD. */
export function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** One page of a list or of a feed. Those who share a page share its body, too: nobody changes it. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** Where the next page starts; null if nothing follows. A feed always has a next page. */
  readonly cursor: string | null;
}

/** How a handler's results are sent. */
export interface RepresentationOptions {
  /** 200 when absent. 201 has a `Location`: the operation's path and the new id. */
  status?: 200 | 201 | 202;
  /** The deprecation of the operation that `Location` leads to. */
  deprecatedRead?: Deprecation;
  /** The representation that a GET would return, which has the ETag, if this operation returns more. */
  asRead?: (resource: never) => object;
  /** A page that is asked for with one value of this parameter, and nothing else, has the ETag of its only entry. */
  single?: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent if what the handler returns is sent as it is. */
    representation?: RepresentationOptions & { isPage: boolean };
    /** The operation checks the conditions of its request itself, while the row is locked. */
    checksConditions?: true;
  }
}

/** The body of a successful response. Sets the status and the header fields that depend on what the handler has returned. */
export function represent(result: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
  const { representation } = request.routeOptions.config;
  if (representation === undefined) {
    return isHeld(request, reply, null) ? undefined : result;
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

function sendResource(resource: object, tagged: object, request: FastifyRequest, reply: FastifyReply): Sent {
  const body = JSON.stringify(resource);
  const tag = entityTag(tagged === resource ? body : JSON.stringify(tagged));
  const held = isHeld(request, reply, tag);
  void reply.header('ETag', tag);
  return held ? undefined : asJson(body, reply);
}

/** Sends a page as a bare array, with `Link: <…>; rel="next"` (RFC 8288) only if more entries follow. */
function sendPage(
  page: Page<object>,
  single: string | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Sent {
  const { entries, cursor } = page;
  if (single !== undefined && entries.length === 1 && asksForOne(request.query as object, single)) {
    return sendResource(entries, entries[0]!, request, reply);
  }
  const held = isHeld(request, reply, null);
  if (cursor !== null) {
    void reply.header('Link', nextLink(request, cursor));
  }
  return held ? undefined : asJson(bodyOf(page), reply);
}

function asksForOne(query: object, parameter: string): boolean {
  const [[name, value] = [], ...others] = Object.entries(query);
  return name === parameter && typeof value === 'string' && others.length === 0;
}

/** Characters of a long body, which takes a thousand times as long to send as a short one. */
const LONG_BODY = 64 * 1024;
/** The bodies of pages, which several requests may share. */
const bodies = new WeakMap<Page<object>, string | Buffer>();

function bodyOf(page: Page<object>): string | Buffer {
  let body = bodies.get(page);
  if (body === undefined) {
    const text = JSON.stringify(page.entries);
    body = text.length > LONG_BODY ? Buffer.from(text) : text;
    bodies.set(page, body);
  }
  return body;
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** Each turn of the event loop sends one long body at most, so that hundreds of them do not keep everybody else waiting. */
async function inTurn(body: Buffer): Promise<Buffer> {
  lastTurn = lastTurn.then(() => setImmediate());
  await lastTurn;
  return body;
}

function asJson(body: string | Buffer, reply: FastifyReply): Sent {
  void reply.type(JSON_TYPE);
  return typeof body === 'string' ? body : inTurn(body);
}

/** The collection's path and the new id (RFC 9110, section 10.2.2), or the successor of the read once that is gone. */
function locationOf({ id }: { id: number }, request: FastifyRequest, read?: Deprecation): string {
  const path =
    read && isGone(read, request) ? successorOf(read, String(id)) : `${request.routeOptions.url}/${id}`;
  return request.prefix + path;
}

/** The value of `Link` for the request with another cursor. It has the operation's path: the target may name a foreign host. */
export function nextLink({ prefix, params, query, routeOptions }: FastifyRequest, cursor: string): string {
  const path = routeOptions.url!.replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent((params as Record<string, string>)[name]!),
  );
  // Encoded again from the parsed values, because the original text can be read in several ways (`?name=a?b`, `%FF`).
  const others = Object.entries(query as Record<string, string | string[]>)
    .filter(([name]) => name !== 'cursor')
    .flatMap(([name, values]) => [values].flat().map((value) => `${name}=${encodeURIComponent(value)}&`));
  return `<${prefix}${path}?${others.join('')}cursor=${cursor}>; rel="next"`;
}

/** Strong ETag of a body, with its quotes: equal tags mean equal bytes (RFC 9110, section 8.8.3). */
export function entityTag(body: string | Buffer): string {
  return `"${hash('sha1', body, 'base64url').slice(0, 22)}"`;
}

type Conditions = Pick<IncomingHttpHeaders, 'if-match' | 'if-none-match'>;

/** Splits `If-Match` or `If-None-Match` into its tags. A tag may contain a comma, so split(',') would be wrong. */
function tagsOf(field: string): string[] {
  return field.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

/** Why `If-Match` does not name what is there, by strong comparison. */
function mismatchOf(tags: string[], tag: string | null): string {
  if (tag === null) {
    return 'The path has no ETag, so only * matches it in If-Match.';
  }
  if (tags.length === 0) {
    return 'If-Match has no ETag in double quotes, and only such a one can match.';
  }
  return tags.every((held) => held.startsWith('W/'))
    ? 'A weak ETag (W/"…") never matches in If-Match. Send the one of a response that no proxy has compressed.'
    : 'The resource has none of the ETags in If-Match. Get it again and send its new ETag.';
}

/**
 * Whether `If-None-Match` names what is there, by weak comparison: then a read that succeeds is 304, and a change 412.
 * @param tag null if what is there has no tag
 * @throws PreconditionFailedError if `If-Match` does not name it
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
    (trimmed(ifNoneMatch) === '*' || tagsOf(ifNoneMatch).some((held) => held.replace(/^W\//, '') === tag))
  );
}

function isHeld(request: FastifyRequest, reply: FastifyReply, tag: string | null): boolean {
  const held = isRead(request) && isNotModified(request.headers, tag);
  if (held) {
    void reply.status(304);
  }
  return held;
}

/**
 * Checks the conditions of a change, while the row is locked.
 * @param resource what a GET would return at that moment; null for a path that has no ETag
 * @throws PreconditionFailedError
 */
export function assertConditions(conditions: Conditions, resource: object | null): void {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = conditions;
  if (ifMatch === undefined && ifNoneMatch === undefined) {
    return;
  }
  if (isNotModified(conditions, resource && entityTag(JSON.stringify(resource)))) {
    throw new PreconditionFailedError(
      trimmed(ifNoneMatch!) === '*'
        ? 'The resource exists, and If-None-Match: * asks that it does not.'
        : 'The resource has an ETag that If-None-Match excludes.',
    );
  }
}

/**
 * Checks the conditions of a change on a path without an ETag. A path without a GET operation has no representation, so that
 * nothing can match `If-None-Match`.
 * @throws PreconditionFailedError
 */
export function assertPathConditions({ headers, server, routeOptions }: FastifyRequest): void {
  const isReadable = headers['if-none-match'] && server.hasRoute({ method: 'GET', url: routeOptions.url! });
  assertConditions(isReadable ? headers : { 'if-match': headers['if-match'] }, null);
}

/** The operation checks the conditions of its request. Documents `If-Match`. */
export function IfMatch(): MethodDecorator {
  return applyDecorators(
    AddRouteConfig({ checksConditions: true }),
    Documented({ parameters: ['If-Match'] }),
  );
}
