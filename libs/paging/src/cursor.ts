import { defineError } from '#libs/errors';

export const InvalidCursorError = defineError({
  code: 'invalid_cursor',
  status: 400,
  when: 'The cursor was not issued by this service.',
  message: () => 'cursor must come from the Link header of a previous page. Leave it out to start over.',
  example: [],
});

/** What a cursor stands after: an id of a list, or an event of the feed. Neither leads to a wrong page of the other. */
export type CursorKind = 'after' | 'event';

/** An opaque cursor for what follows this id. */
export function cursorAfter(id: number, kind: CursorKind = 'after'): string {
  return Buffer.from(`${kind}:${id}`).toString('base64url');
}

/**
 * The id that a cursor stands after; 0 without a cursor.
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
  // Made again from what was read, a cursor must come out the same: there is one spelling of it only.
  if (!Number.isSafeInteger(id) || id < 1 || cursorAfter(id, kind) !== cursor) {
    throw new InvalidCursorError();
  }
  return id;
}
