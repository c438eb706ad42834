import { cursorAfter, rangeOf } from '#libs/http';

it('A cursor leads back to its id, fits into a URL as it is, and without one a list starts before the first id', () => {
  for (const id of [1, 20, 255, 4_711, Number.MAX_SAFE_INTEGER]) {
    expect(cursorAfter(id)).toMatch(/^[\w-]{1,64}$/);
    expect(rangeOf({ cursor: cursorAfter(id) }).after).toEqual({ id });
  }
  expect(rangeOf({}).after).toEqual({ id: 0 });
  expect(rangeOf({ cursor: cursorAfter(0) }).after).toEqual({ id: 0 });
});

it('A cursor of a list by name leads back to its id and name, and without one the list starts before the first name', () => {
  for (const name of ['', 'rex', ':7', 'a\nb', 'zoë', '🐕'.repeat(200)]) {
    const cursor = cursorAfter(Number.MAX_SAFE_INTEGER, name);
    expect(cursor).toMatch(/^[\w-]{1,1100}$/);
    expect(rangeOf({ cursor, name: 're' }).after).toEqual({ id: Number.MAX_SAFE_INTEGER, name });
  }
  expect(rangeOf({ name: 're' }).after).toEqual({ id: 0, name: '' });
  expect(rangeOf({ name: 're', cursor: cursorAfter(0) }).after).toEqual({ id: 0, name: '' });
});

const INVALID = expect.objectContaining({ status: 400, code: 'invalid_cursor' }) as Error;
const encoded = (content: string) => Buffer.from(content).toString('base64url');

test.each([
  ['nothing', ''],
  ['a plain id', '20'],
  ['another prefix', encoded('befor:20')],
  ['a position in the feed', encoded('event:20')],
  ['no id', encoded('after:')],
  ['a negative id', encoded('after:-1')],
  ['a differently formatted id', encoded('after:020')],
  ['an exponent', encoded('after:1e1')],
  ['white space', encoded('after: 20')],
  ['an id above the maximum', encoded('after:9007199254740992')],
  ['trailing characters', `${cursorAfter(20)}A`],
  ['padding', `${cursorAfter(1)}=`],
  ['the other base64 alphabet', `${cursorAfter(20)}+/`],
  ['half a cursor', cursorAfter(20).slice(0, 6)],
  ['invalid base64', '🐕'],
  ['a name, in a list without', cursorAfter(20, 'rex')],
])('rejects a cursor with %s', (_what, cursor) => {
  expect(() => rangeOf({ cursor })).toThrow(INVALID);
});

test.each([
  ['no name', cursorAfter(20)],
  ['a NUL character', cursorAfter(20, 're\0')],
  ['a name in no UTF-8', Buffer.from('after:20:\xff', 'latin1').toString('base64url')],
])('a list by name rejects a cursor with %s', (_what, cursor) => {
  expect(() => rangeOf({ cursor, name: 're' })).toThrow(INVALID);
});
