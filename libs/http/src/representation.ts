// This file turns what handlers return into responses: resources with an ETag, and pages with a link to the next page.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { applyReadConditions, entityTag } from './conditions';
import { JSON_TYPE } from './json-body';

type ResponseBody = string | Buffer | undefined;

/** One page of a list or of the event feed. Do not modify a page, because several requests may share it. */
export interface Page<Entry> {
  readonly entries: readonly Entry[];
  /** The cursor of the next page; null if no entries follow. */
  readonly cursor: string | null;
}

export interface ResourceOptions {
  /**
   * Returns the resource as a GET would return it, for the ETag. Needed if this operation returns more than the GET,
   * such as a secret.
   */
  asRead?: (resource: never) => object;
}

export interface PageOptions {
  /**
   * The query parameter that selects entries of a list by id. If this parameter asks for a single id, such as
   * `?id=7`, the response has the ETag of entry 7, which the caller can send in `If-Match`.
   */
  single?: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How to send what the handler returns. Absent if the handler's result is sent unchanged. */
    representation?: { resource: ResourceOptions } | { page: PageOptions };
  }
}

/**
 * Sets the headers that describe what a handler has returned. If `If-None-Match` of a read matches, also sets the status
 * 304.
 * @returns the body; undefined if the status is 304
 * @throws PreconditionFailedError if `If-Match` of a read does not match
 */
export function represent(result: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
  const { representation } = request.routeOptions.config;
  if (representation === undefined) {
    return applyReadConditions(request, reply, null) ? undefined : result;
  }
  const body =
    'page' in representation
      ? representPage(result as Page<object>, representation.page.single, request, reply)
      : representResource(result as { id: number }, representation.resource, request, reply);
  if (body !== undefined) {
    void reply.type(JSON_TYPE);
  }
  return body;
}

function representResource(
  resource: { id: number },
  { asRead }: ResourceOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): ResponseBody {
  if (reply.statusCode === 201) {
    void reply.header('Location', locationOf(resource, request));
  }
  return representTagged(resource, asRead?.(resource as never) ?? resource, request, reply);
}

/** @param tagged the value whose ETag the response has */
function representTagged(
  value: object,
  tagged: object,
  request: FastifyRequest,
  reply: FastifyReply,
): ResponseBody {
  const body = JSON.stringify(value);
  const tag = entityTag(tagged === value ? body : JSON.stringify(tagged));
  const isNotModified = applyReadConditions(request, reply, tag);
  void reply.header('ETag', tag);
  return isNotModified ? undefined : body;
}

function representPage(
  page: Page<object>,
  single: string | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): ResponseBody {
  const { entries, cursor } = page;
  if (single !== undefined && entries.length === 1 && asksForOne(request.query as object, single)) {
    return representTagged(entries, entries[0]!, request, reply);
  }
  const isNotModified = applyReadConditions(request, reply, null);
  if (cursor !== null) {
    void reply.header('Link', nextLink(request, cursor));
  }
  return isNotModified ? undefined : bodyOf(page);
}

function asksForOne(query: object, parameter: string): boolean {
  const [[name, value] = [], ...others] = Object.entries(query);
  return name === parameter && typeof value === 'string' && others.length === 0;
}

/** If the JSON of a page has more characters than this, the page's body is kept as bytes and not as text. */
const LONG_BODY = 64 * 1024;
/** The body of each page, kept so that requests that share a page do not all have to make its JSON again. */
const pageBodies = new WeakMap<Page<object>, string | Buffer>();

function bodyOf(page: Page<object>): string | Buffer {
  let body = pageBodies.get(page);
  if (body === undefined) {
    const text = JSON.stringify(page.entries);
    // Turn a long text into bytes here, once. Otherwise each response would turn the text into bytes again.
    body = text.length > LONG_BODY ? Buffer.from(text) : text;
    pageBodies.set(page, body);
  }
  return body;
}

/** Returns the value of `Location`: the collection's path and the new id (RFC 9110, section 10.2.2). */
function locationOf({ id }: { id: number }, { prefix, routeOptions }: FastifyRequest): string {
  return `${prefix}${routeOptions.url}/${id}`;
}

/** Returns the value of `Link` for the next page: the same request with another cursor. */
export function nextLink({ prefix, params, query, routeOptions }: FastifyRequest, cursor: string): string {
  const path = routeOptions.url!.replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent((params as Record<string, string>)[name]!),
  );
  // Encode the parsed query parameters again instead of copying the query as the caller has sent it. The caller may have sent
  // characters without encoding, such as `>`, which would end the link too early.
  const others = Object.entries(query as Record<string, string | string[]>)
    .filter(([name]) => name !== 'cursor')
    .flatMap(([name, values]) => [values].flat().map((value) => `${name}=${encodeURIComponent(value)}&`));
  return `<${prefix}${path}?${others.join('')}cursor=${cursor}>; rel="next"`;
}
