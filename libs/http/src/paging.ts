import { isString } from 'class-validator';
import { defineError } from './errors';
import { Field, type FieldOptions, Integer } from './fields';
import type { Page } from './representation';

export const InvalidCursorError = defineError({
  code: 'invalid_cursor',
  status: 400,
  when: 'The cursor was not issued by this service.',
  message: 'cursor must come from the Link header of a previous page. Leave it out to start over.',
});

/**
 * Where a page starts: after the entry with this id or, in a list sorted by name, after the entry with this name and id.
 * libs/database declares the same type, because neither library depends on the other.
 */
export interface ListPosition {
  id: number;
  name?: string | undefined;
}

export function cursorAfter(id: number, name?: string): string {
  // The prefix `after:` distinguishes the cursors of lists from the cursors of the event feed.
  return Buffer.from(`after:${id}${name === undefined ? '' : `:${name}`}`).toString('base64url');
}

const FIRST_PAGE = cursorAfter(0);

function positionOf(cursor: string): ListPosition {
  const [, digits, name] =
    /^after:(\d+)(?::([^\0]*))?$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const id = Number(digits);
  // Refuse a text that `cursorAfter` would not return for this position, because the service has not issued such a cursor.
  // Without this check, a damaged cursor could pass, because `Buffer.from` skips characters that are not base64url.
  if (!Number.isSafeInteger(id) || cursorAfter(id, name) !== cursor) {
    throw new InvalidCursorError();
  }
  return { id, name };
}

export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 20;

/**
 * Maximum length of a cursor in characters. A name of 200 characters takes up to 800 bytes in UTF-8. With the prefix and the
 * id, a cursor has up to 823 bytes, for which base64url needs 1,098 characters.
 */
const MAX_CURSOR_LENGTH = 1_100;

export function Cursor(options: FieldOptions): PropertyDecorator {
  const schema = { type: 'string', maxLength: MAX_CURSOR_LENGTH, pattern: '^[A-Za-z0-9_-]+$' };
  return Field({ ...options, times: 1 }, schema, 'a cursor', isString);
}

export class PageQuery {
  @Integer({
    min: 1,
    max: MAX_PAGE_SIZE,
    times: 1,
    description: `Maximum number of entries on a page. Default: ${DEFAULT_PAGE_SIZE}, at most ${MAX_PAGE_SIZE}.`,
    example: 20,
  })
  limit?: number;

  @Cursor({
    description: 'Where the page starts: the opaque cursor in the `Link` header of the previous page.',
    example: FIRST_PAGE,
  })
  cursor?: string;
}

/**
 * Returns which entries of a list the request asks for. The list is sorted by name if the request searches for a name (the
 * query parameter `name`), and otherwise by id.
 * @throws ApiError 400 `invalid_cursor`
 */
export function rangeOf({ cursor, limit = DEFAULT_PAGE_SIZE, name }: PageQuery & { name?: string }) {
  const given = cursor === undefined || cursor === FIRST_PAGE ? undefined : positionOf(cursor);
  const after: ListPosition = given ?? { id: 0, name: name && '' };
  if ((after.name === undefined) !== (name === undefined)) {
    throw new InvalidCursorError();
  }
  return { after, limit };
}

/** Returns a function that turns the rows of a list into a page of entries. */
export function pageMapper<Row, Entry>(toEntry: (row: Row) => Entry) {
  return (rows: Row[], next: ListPosition | null): Page<Entry> => ({
    entries: rows.map((row) => toEntry(row)),
    cursor: next && cursorAfter(next.id, next.name),
  });
}

/**
 * Makes a page of at most `limit` entries.
 * @param rows the rows in the order of their ids, with one row more than `limit` if more entries follow
 */
export function pageOf<Entry extends { id: number }>(rows: Entry[], limit: number): Page<Entry> {
  const entries = rows.slice(0, limit);
  return { entries, cursor: rows.length > limit ? cursorAfter(entries.at(-1)!.id) : null };
}
