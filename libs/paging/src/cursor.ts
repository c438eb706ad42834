import { defineError } from '#libs/errors';

export const InvalidCursorError = defineError({
  code: 'invalid_cursor',
  status: 400,
  when: 'The cursor was not issued by this service.',
  message: () => 'cursor must come from the Link header of a previous page. Leave it out to start over.',
  example: [],
});

const PREFIX = 'after:';

/** An opaque cursor for what follows this id. */
export function cursorAfter(id: number): string {
  return Buffer.from(`${PREFIX}${id}`).toString('base64url');
}

/**
 * The id that a cursor stands after; 0 without a cursor.
 * @throws ApiError 400 `invalid_cursor`
 */
export function idBefore(cursor: string | undefined): number {
  if (cursor === undefined) {
    return 0;
  }
  const id = Number(Buffer.from(cursor, 'base64url').toString('latin1').slice(PREFIX.length));
  // Made again from what was read, a cursor must come out the same: there is one spelling of it only.
  if (!Number.isSafeInteger(id) || id < 1 || cursorAfter(id) !== cursor) {
    throw new InvalidCursorError();
  }
  return id;
}
