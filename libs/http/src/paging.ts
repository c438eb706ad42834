import { isString } from 'class-validator';
import { defineError } from './errors';
import { Field, type FieldOptions, Integer } from './validation';

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
