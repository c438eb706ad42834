import { isString } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { defineError } from './errors';
import { Field, type FieldOptions, Integer } from './validation';
import type { HeaderNote } from './notes';
import { routeOf } from './routes';
import { JSON_TYPE, asSingleResource } from './single-resource';

export const InvalidCursorError = defineError({
  code: 'invalid_cursor',
  status: 400,
  when: 'The cursor was not issued by this service.',
  message: () => 'cursor must come from the Link header of a previous page. Leave it out to start over.',
  example: [],
});

/** Tells the cursors of lists from those of the feed. */
const PREFIX = 'after:';

/** An opaque cursor for the entries after this id. */
export function cursorAfter(id: number): string {
  return Buffer.from(`${PREFIX}${id}`).toString('base64url');
}

/**
 * The id in a cursor; 0 without a cursor.
 * @throws ApiError 400 `invalid_cursor`
 */
export function idBefore(cursor: string | undefined): number {
  if (cursor === undefined) {
    return 0;
  }
  const id = Number(Buffer.from(cursor, 'base64url').toString('latin1').slice(PREFIX.length));
  // Each cursor has only one spelling: encoding the result again must give the same text.
  if (!Number.isSafeInteger(id) || id < 1 || cursorAfter(id) !== cursor) {
    throw new InvalidCursorError();
  }
  return id;
}

export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 20;

/** The query parameter that says where a page starts. */
export function Cursor(options: FieldOptions): PropertyDecorator {
  const schema = { type: 'string', maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' };
  return Field({ ...options, times: 1 }, schema, 'a cursor', isString);
}

/** The query parameters of every list. */
export class PageQuery {
  @Integer({
    min: 1,
    max: MAX_PAGE_SIZE,
    times: 1,
    description: 'Maximum number of entries on a page.',
    default: DEFAULT_PAGE_SIZE,
    example: 20,
  })
  limit?: number;

  @Cursor({
    description: 'Where the page starts. Opaque: use the one from the `Link` header of the previous page.',
    example: cursorAfter(20),
  })
  cursor?: string;
}

/** Which entries the request asks for. @throws ApiError 400 `invalid_cursor` */
export function rangeOf({ cursor, limit = DEFAULT_PAGE_SIZE }: PageQuery): { after: number; limit: number } {
  return { after: idBefore(cursor), limit };
}

/** One page of a list in ascending order of id. */
export interface Page<Entry> {
  entries: Entry[];
  /** Id of the last entry if more entries follow; null on the last page of a finite list. */
  lastId: number | null;
}

/** One page of a feed, which always has a next one, and cursors of its own. It was ended by size when it was read. */
export interface FeedPage<Entry> {
  entries: Entry[];
  /** Where the next page starts. */
  cursor: string;
}

/**
 * Makes a page from the rows read.
 * @param rows one more than the page holds, if more entries follow
 */
export function pageOf<Entry>(rows: Entry[], limit: number, idOf: (entry: Entry) => number): Page<Entry> {
  const entries = rows.slice(0, limit);
  const last = entries.at(-1);
  return { entries, lastId: rows.length > limit && last !== undefined ? idOf(last) : null };
}

/** A page whose body would be larger ends early, with at least one entry. */
const MAX_PAGE_BYTES = 256 * 1024;

export interface PageOptions {
  /** What its `Link` promises, if that is more than the next page of a list. */
  link?: Omit<HeaderNote, 'name'>;
  /** The id of an entry as it is sent; `id` by default. */
  idOf?: (entry: never) => number;
  /** A page that is asked for with one value of this parameter, and nothing else, has the ETag of its only entry. */
  single?: string;
}

/** Sends a page as a bare array, with `Link: <…>; rel="next"` (RFC 8288) only if more entries follow. */
export function asPage(
  page: Page<unknown> | FeedPage<unknown>,
  { idOf = ({ id }: { id: number }) => id, single }: PageOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): string | undefined {
  const { entries } = page;
  if (single !== undefined && entries.length === 1 && asksForOne(request.query as object, single)) {
    return asSingleResource(entries, entries[0] as object, request, reply);
  }
  const { body, cursor } =
    'cursor' in page ? { body: JSON.stringify(entries), cursor: page.cursor } : bounded(page, idOf);
  if (cursor !== null) {
    void reply.header('Link', nextLink(request, cursor));
  }
  void reply.type(JSON_TYPE);
  return body;
}

function asksForOne(query: object, parameter: string): boolean {
  const given = Object.entries(query);
  return given.length === 1 && given[0]![0] === parameter && typeof given[0]![1] === 'string';
}

function bounded(
  page: Page<unknown>,
  idOf: (entry: never) => number,
): { body: string; cursor: string | null } {
  const cursorOf = (lastId: number | null) => (lastId === null ? null : cursorAfter(lastId));
  const whole = JSON.stringify(page.entries);
  if (Buffer.byteLength(whole) <= MAX_PAGE_BYTES) {
    return { body: whole, cursor: cursorOf(page.lastId) };
  }
  const texts: string[] = [];
  // The brackets; each entry has a comma as well.
  let bytes = 2;
  for (const entry of page.entries) {
    const text = JSON.stringify(entry);
    bytes += Buffer.byteLength(text) + 1;
    if (texts.length > 0 && bytes > MAX_PAGE_BYTES) {
      break;
    }
    texts.push(text);
  }
  const isWhole = texts.length === page.entries.length;
  const lastId = isWhole ? page.lastId : idOf(page.entries[texts.length - 1] as never);
  return { body: `[${texts.join(',')}]`, cursor: cursorOf(lastId) };
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
  return `<${pathOf(request)}?${others}cursor=${cursor}>; rel="next"`;
}

function pathOf(request: FastifyRequest): string {
  const values = request.params as Record<string, string>;
  return (routeOf(request).url ?? '').replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
}
