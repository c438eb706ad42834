import { cursorAfter, idBefore, pageOf } from '#libs/http';

it('A cursor leads back to its id, fits into a URL as it is, and without one a list starts before the first id', () => {
  for (const id of [1, 20, 255, 4_711, Number.MAX_SAFE_INTEGER]) {
    expect(cursorAfter(id)).toMatch(/^[\w-]{1,64}$/);
    expect(idBefore(cursorAfter(id))).toBe(id);
  }
  expect(idBefore(undefined)).toBe(0);
});

const encoded = (content: string) => Buffer.from(content).toString('base64url');

test.each([
  ['nothing', ''],
  ['a plain id', '20'],
  ['another prefix', encoded('befor:20')],
  ['a position in the feed', encoded('event:20')],
  ['no id', encoded('after:')],
  ['id 0', encoded('after:0')],
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
])('rejects a cursor with %s', (_what, cursor) => {
  expect(() => idBefore(cursor)).toThrow(expect.objectContaining({ status: 400, code: 'invalid_cursor' }));
});

test.each([
  ['no rows', [], { entries: [], lastId: null }],
  ['fewer rows than the page holds', [1], { entries: [1], lastId: null }],
  ['as many rows as the page holds', [1, 2], { entries: [1, 2], lastId: null }],
  ['one row more', [1, 2, 3], { entries: [1, 2], lastId: 2 }],
])('a page made of %s', (_what, rows, page) => {
  expect(pageOf<number>(rows, 2, (id) => id)).toEqual(page);
});
