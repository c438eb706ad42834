// How results are sent: resources with their ETag, pages with the link to the next one; and the conditions of requests.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { SetMetadata, applyDecorators } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PreconditionFailedError } from './errors';
import { type Deprecation, Documented, isGone, successorOf } from './routes';

type Body = string | Buffer;
/** Undefined means no body. */
type Sent = Body | Promise<Body> | undefined;

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

const REPRESENTATION = Symbol('representation');

/** The handler returns a single resource or, if `isPage`, a Page. */
export function RepresentedBy(options: RepresentationOptions & { isPage: boolean }): MethodDecorator {
  return SetMetadata(REPRESENTATION, options);
}

/** The body of a successful response. Sets the status and the header fields that depend on what the handler has returned. */
export function represent(
  handler: object,
  result: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): unknown {
  const options = Reflect.getMetadata(REPRESENTATION, handler) as
    | Parameters<typeof RepresentedBy>[0]
    | undefined;
  if (options === undefined) {
    return isHeld(request, reply, null) ? undefined : result;
  }
  if (options.isPage) {
    return sendPage(result as Page<object>, options, request, reply);
  }
  const resource = result as { id: number };
  if (options.status === 201) {
    void reply.header('Location', locationOf(resource, request, options.deprecatedRead));
  }
  return sendResource(resource, options.asRead?.(resource as never) ?? resource, request, reply);
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
  { single }: RepresentationOptions,
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
const bodies = new WeakMap<Page<object>, Body>();

function bodyOf(page: Page<object>): Body {
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

function asJson(body: Body, reply: FastifyReply): Sent {
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

/** @throws PreconditionFailedError if `If-Match` does not name what is there (strong comparison) */
function assertMatch({ 'if-match': field }: Conditions, tag: string | null): void {
  if (field === undefined || field.trim() === '*') {
    return;
  }
  const tags = tagsOf(field);
  if (tag === null) {
    throw new PreconditionFailedError('The path has no ETag, so only * matches it in If-Match.');
  }
  if (tags.length === 0) {
    throw new PreconditionFailedError(
      'If-Match has no ETag in double quotes, and only such a one can match.',
    );
  }
  if (tags.every((held) => held.startsWith('W/'))) {
    throw new PreconditionFailedError(
      'A weak ETag (W/"…") never matches in If-Match. Send the one of a response that no proxy has compressed.',
    );
  }
  if (!tags.includes(tag)) {
    throw new PreconditionFailedError(
      'The resource has none of the ETags in If-Match. Get it again and send its new ETag.',
    );
  }
}

/** Whether `If-None-Match` names what is there (weak comparison): a read is 304 then, and a change 412. */
function matchesNone({ 'if-none-match': field }: Conditions, tag: string | null): boolean {
  return (
    field !== undefined &&
    (field.trim() === '*' || tagsOf(field).some((held) => held.replace(/^W\//, '') === tag))
  );
}

/**
 * Whether the response to a read that succeeds is 304.
 * @param tag null if what is there has no tag
 * @throws PreconditionFailedError
 */
export function isNotModified({ headers }: FastifyRequest, tag: string | null): boolean {
  assertMatch(headers, tag);
  return matchesNone(headers, tag);
}

function isHeld(request: FastifyRequest, reply: FastifyReply, tag: string | null): boolean {
  const held = isRead(request) && isNotModified(request, tag);
  if (held) {
    void reply.status(304);
  }
  return held;
}

/** The conditions of a change. Check them while the row is locked, against what a GET would return at that moment. */
export class Precondition {
  constructor(private readonly conditions: Conditions) {}

  /** @param resource null for a path that has no ETag */
  assertHolds(resource: object | null): void {
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = this.conditions;
    if (ifMatch === undefined && ifNoneMatch === undefined) {
      return;
    }
    const tag = resource && entityTag(JSON.stringify(resource));
    assertMatch(this.conditions, tag);
    if (matchesNone(this.conditions, tag)) {
      throw new PreconditionFailedError(
        ifNoneMatch!.trim() === '*'
          ? 'The resource exists, and If-None-Match: * asks that it does not.'
          : 'The resource has an ETag that If-None-Match excludes.',
      );
    }
  }
}

const EVALUATES = Symbol('evaluates conditions');

/** The operation checks the Precondition of its request. Documents `If-Match`. */
export function IfMatch(): MethodDecorator {
  return applyDecorators(SetMetadata(EVALUATES, true), Documented({ parameters: ['If-Match'] }));
}

/** Whether the handler of a change evaluates its Precondition. */
export function hasPrecondition(handler: object): boolean {
  return Reflect.hasMetadata(EVALUATES, handler);
}
