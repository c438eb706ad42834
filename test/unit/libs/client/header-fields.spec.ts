import {
  nextCursor,
  readLinks,
  readRateLimit,
  readRetryAfter,
} from '../../../../libs/client/src/header-fields';

const X_FIELDS = {
  'X-RateLimit-Limit': '60',
  'X-RateLimit-Remaining': '59',
  'X-RateLimit-Reset': '1795253460',
};

describe('Rate limit fields', () => {
  it('are combined: the nearest limit, and every window', () => {
    const headers = new Headers({
      ...X_FIELDS,
      'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      RateLimit: '"minute";r=59;t=60, "day";r=999;t=40211',
    });
    expect(readRateLimit(headers)).toEqual({
      limit: 60,
      remaining: 59,
      resetAt: new Date('2026-11-21T09:31:00Z'),
      windows: [
        { name: 'minute', limit: 60, remaining: 59, windowSeconds: 60, resetSeconds: 60 },
        { name: 'day', limit: 1_000, remaining: 999, windowSeconds: 86_400, resetSeconds: 40_211 },
      ],
    });
  });

  it('work without those of the draft, and without a window that only one of the two names', () => {
    expect(readRateLimit(new Headers(X_FIELDS))?.windows).toEqual([]);
    const halves = { 'RateLimit-Policy': '"minute";q=60;w=60', RateLimit: '"day";r=999;t=40211' };
    expect(readRateLimit(new Headers({ ...X_FIELDS, ...halves }))?.windows).toEqual([]);
  });

  it.each([{}, { ...X_FIELDS, 'X-RateLimit-Reset': 'soon' }, { ...X_FIELDS, 'X-RateLimit-Remaining': '-1' }])(
    'are ignored when incomplete or not numeric: %j',
    (fields) => {
      expect(readRateLimit(new Headers(fields as Record<string, string>))).toBeUndefined();
    },
  );
});

describe('Retry-After', () => {
  const now = Date.UTC(2026, 10, 21, 9, 30);

  it.each([
    ['42', 42],
    ['0', 0],
    ['Sat, 21 Nov 2026 09:30:10 GMT', 10],
    ['Sat, 21 Nov 2026 09:29:00 GMT', 0],
    ['soon', undefined],
  ])('%s is %s seconds', (field, seconds) => {
    expect(readRetryAfter(new Headers({ 'Retry-After': field }), now)).toBe(seconds);
  });

  it('is undefined when it is missing', () => {
    expect(readRetryAfter(new Headers(), now)).toBeUndefined();
  });
});

describe('Link', () => {
  it('is read by relation, with commas and semicolons anywhere', () => {
    const Link =
      '</a,b;c>; title="x, <y>; rel=no"; rel="next last", </docs>;rel=deprecation;type="text/html", </b>; rel="next"';
    expect([...readLinks(new Headers({ Link }))]).toEqual([
      ['next', '/a,b;c'],
      ['last', '/a,b;c'],
      ['deprecation', '/docs'],
    ]);
  });

  it.each([
    ['</pets?limit=2&cursor=YWZ0ZXI6Mg>; rel="next"', 'YWZ0ZXI6Mg'],
    ['<https://elsewhere.test/store/pets?cursor=a%2Bb&name=a?b#x>; rel="next"', 'a+b'],
    ['</pets?cursor=a>; rel="prev"', undefined],
    ['</pets>; rel="next"', undefined],
  ])('%s leads to the cursor %s', (Link, cursor) => {
    expect(nextCursor(new Headers({ Link }))).toBe(cursor);
  });

  it('is undefined when it is missing', () => {
    expect(nextCursor(new Headers())).toBeUndefined();
  });
});
