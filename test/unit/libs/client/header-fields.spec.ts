import { nextCursor, readRateLimit, readRetryAfter } from '../../../../libs/client/src/header-fields';

const LIMITS = {
  'X-RateLimit-Limit': '60',
  'X-RateLimit-Remaining': '59',
  'X-RateLimit-Reset': '1795253460',
};

it('Rate limit fields are read together', () => {
  expect(readRateLimit(new Headers(LIMITS))).toEqual({
    limit: 60,
    remaining: 59,
    resetAt: new Date('2026-11-21T09:31:00Z'),
  });
});

it.each([{}, { ...LIMITS, 'X-RateLimit-Reset': 'soon' }, { ...LIMITS, 'X-RateLimit-Remaining': '-1' }])(
  'Rate limit fields are ignored when incomplete or not numeric: %j',
  (fields) => {
    expect(readRateLimit(new Headers(fields as Record<string, string>))).toBeUndefined();
  },
);

it.each([
  ['42', 42],
  ['0', 0],
  ['soon', undefined],
])('Retry-After: %s is %s seconds', (field, seconds) => {
  expect(readRetryAfter(new Headers({ 'Retry-After': field }))).toBe(seconds);
});

it.each([
  ['</pets?limit=2&cursor=YWZ0ZXI6Mg>; rel="next"', 'YWZ0ZXI6Mg'],
  ['<https://elsewhere.test/store/pets?cursor=a%2Bb&name=a>; rel="next"', 'a+b'],
  ['</docs>; rel="deprecation"; type="text/html", </pets?cursor=a>; rel="next"', 'a'],
  ['</pets?cursor=a>; rel="prev"', undefined],
  ['</pets>; rel="next"', undefined],
])('Link: %s leads to the cursor %s', (Link, cursor) => {
  expect(nextCursor(new Headers({ Link }))).toBe(cursor);
});
