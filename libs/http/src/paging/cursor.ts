import { defineError } from '../errors/define-error';

export const InvalidCursorError = defineError({
  code: 'invalid_cursor',
  status: 400,
  when: 'The cursor was not issued by this service.',
  message: () => 'cursor must come from the Link header of a previous page. Leave it out to start over.',
  example: [],
});

/**
 * The kind of position in a cursor: an id of a list, or an event of the feed. A cursor of one kind is invalid for the
 * other.
 */
export type CursorKind = 'after' | 'event';

/** An opaque cursor for the entries after this id. */
export function cursorAfter(id: number, kind: CursorKind = 'after'): string {
  return Buffer.from(`${kind}:${id}`).toString('base64url');
}

/**
 * The id in a cursor; 0 without a cursor.
 * @throws ApiError 400 `invalid_cursor`
 */
export function idBefore(cursor: string | undefined, kind: CursorKind = 'after'): number {
  if (cursor === undefined) {
    return 0;
  }
  const id = Number(
    Buffer.from(cursor, 'base64url')
      .toString('latin1')
      .slice(kind.length + 1),
  );
  // Each cursor has only one spelling: encoding the result again must give the same text.
  if (!Number.isSafeInteger(id) || id < 1 || cursorAfter(id, kind) !== cursor) {
    throw new InvalidCursorError();
  }
  return id;
}
