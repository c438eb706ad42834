// How results are sent: single resources with their ETag, and pages with the link to the next one.
import { setImmediate } from 'node:timers/promises';
import { SetMetadata } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, isNotModified } from './conditions';
import type { Page } from './paging';
import { type Deprecation, isGone, successorOf } from './routes';

type Body = string | Buffer;
/** Undefined means no body. */
type Sent = Body | Promise<Body> | undefined;

/** The content type of a representation that is already text. */
export const JSON_TYPE = 'application/json; charset=utf-8';

export function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Sets the ETag of a single resource, and returns 304 to a GET that sends the same one. */
function asSingleResource(
  resource: object,
  tagged: object,
  request: FastifyRequest,
  reply: FastifyReply,
): Sent {
  const body = JSON.stringify(resource);
  const tag = entityTag(tagged === resource ? body : JSON.stringify(tagged));
  const isHeld = isRead(request) && isNotModified(request, tag);
  void reply.header('ETag', tag);
  return isHeld ? notModified(reply) : asJson(body, reply);
}

interface PageOptions {
  /** A page that is asked for with one value of this parameter, and nothing else, has the ETag of its only entry. */
  single?: string;
}

/** Characters of a long body, which takes a thousand times as long to send as a short one. */
const LONG_BODY = 64 * 1024;
/** The bodies of pages, which several requests may share. */
const bodies = new WeakMap<Page<unknown>, Body>();

function bodyOf(page: Page<unknown>): Body {
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

function notModified(reply: FastifyReply): undefined {
  void reply.status(304);
}

/** Sends a page as a bare array, with `Link: <…>; rel="next"` (RFC 8288) only if more entries follow. */
function asPage(
  page: Page<unknown>,
  { single }: PageOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Sent {
  const { entries, cursor } = page;
  if (single !== undefined && entries.length === 1 && asksForOne(request.query as object, single)) {
    return asSingleResource(entries, entries[0] as object, request, reply);
  }
  const isHeld = isNotModified(request, null);
  if (cursor !== null) {
    void reply.header('Link', nextLink(request, cursor));
  }
  return isHeld ? notModified(reply) : asJson(bodyOf(page), reply);
}

function asksForOne(query: object, parameter: string): boolean {
  const given = Object.entries(query);
  return given.length === 1 && given[0]![0] === parameter && typeof given[0]![1] === 'string';
}

/**
 * The value of `Link` for the request's own query with another cursor, so that filters and page size are kept. It uses the
 * operation's path, because the target may name a foreign host.
 */
export function nextLink(request: FastifyRequest, cursor: string): string {
  // Encoded again from the parsed values, because the original text can be read in several ways (`?name=a?b`, `%FF`).
  let others = '';
  for (const [name, values] of Object.entries(request.query as Record<string, string | string[]>)) {
    for (const value of name === 'cursor' ? [] : Array.isArray(values) ? values : [values]) {
      others += `${name}=${encodeURIComponent(value)}&`;
    }
  }
  return `<${request.prefix}${pathOf(request)}?${others}cursor=${cursor}>; rel="next"`;
}

function pathOf(request: FastifyRequest): string {
  const values = request.params as Record<string, string>;
  return (request.routeOptions.url ?? '').replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
}

const REPRESENTATION = Symbol('representation');

/** Turns the result of an operation into the body of a successful response, and sets the status and header fields that depend on it. */
type Representation = (result: never, request: FastifyRequest, reply: FastifyReply) => Sent;

const asItIs: Representation = (result, request, reply) =>
  isRead(request) && isNotModified(request, null) ? notModified(reply) : result;

/** How a handler's results are sent. */
export function representationOf(handler: object): Representation {
  return (Reflect.getMetadata(REPRESENTATION, handler) as Representation | undefined) ?? asItIs;
}

/** What a handler returns, and how that is sent. */
export interface RepresentationOptions {
  /** 200 when absent. 201 has a `Location`: the operation's path and the new id. */
  status?: 200 | 201 | 202;
  /** The deprecation of the operation that `Location` leads to. */
  deprecatedRead?: Deprecation;
  /** The representation that a GET would return, which has the ETag, if this operation returns more. */
  asRead?: (resource: never) => object;
  paging?: PageOptions;
}

/** The handler returns a single resource or, if `isPage`, a Page. */
export function RepresentedBy(
  { status, paging = {}, deprecatedRead, asRead = (resource: object) => resource }: RepresentationOptions,
  isPage: boolean,
): MethodDecorator {
  const ofPage: Representation = (page: Page<unknown>, request, reply) =>
    asPage(page, paging, request, reply);
  const ofResource: Representation = (resource: object, request, reply) => {
    if (status === 201) {
      void reply.header('Location', locationOf(resource as { id: number }, request, deprecatedRead));
    }
    return asSingleResource(resource, asRead(resource as never), request, reply);
  };
  return SetMetadata(REPRESENTATION, isPage ? ofPage : ofResource);
}

/** The collection's path and the new id (RFC 9110, section 10.2.2), or the successor of the read once that is gone. */
function locationOf({ id }: { id: number }, request: FastifyRequest, read?: Deprecation): string {
  const path =
    read && isGone(read, request) ? successorOf(read, String(id)) : `${request.routeOptions.url}/${id}`;
  return request.prefix + path;
}
