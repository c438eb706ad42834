import { requestIdOf } from '../../../src/http/http-server';

const idOf = (given?: string | string[]) => requestIdOf({ headers: { 'x-request-id': given } } as never);

test.each(['a', '0', 'A-b_c.D', 'x'.repeat(128)])('%.20s is accepted', (id) => {
  expect(idOf(id)).toBe(id);
});

test.each([undefined, '', ' ', 'a b', 'a/b', 'a:b', 'é', 'a\n', '"a"', 'x'.repeat(129), ['a'], ['a', 'b']])(
  '%j is replaced by a random one',
  (id) => {
    expect(idOf(id)).toMatch(/^[0-9a-f-]{36}$/);
    expect(idOf(id)).not.toBe(idOf(id));
  },
);
