import { boolean, except, resourceId, integer, oneOf, text, timestamp } from '#libs/http';

const DOG = '🐕';

describe('identifier', () => {
  it('accepts integers from 1 that JSON carries exactly, and nothing else', () => {
    const good = [1, 42, Number.MAX_SAFE_INTEGER];
    const bad = [0, -1, 1.5, Number.MAX_SAFE_INTEGER + 1, Infinity, NaN, '1', null, undefined, true, [1], {}];
    expect([...good, ...bad].filter((value) => resourceId.accepts(value))).toEqual(good);
  });

  it('is read from its one way to write it, and from no other', () => {
    expect(['1', '9007199254740991'].map((text) => resourceId.parse!(text))).toEqual([1, 2 ** 53 - 1]);
    const bad =
      '|0|01|+1|-1|1.0|1e2|0x1| 1|1 |1\n|١|9007199254740992|9007199254740993|10000000000000000000000|NaN';
    expect(bad.split('|').filter((text) => resourceId.accepts(resourceId.parse!(text)))).toEqual([]);
  });
});

it('An integer is within its bounds, and not the excluded value', () => {
  const rule = integer({ min: 0, max: 10 });
  expect([0, 10, -1, 11, 1.5, '1', 1e400, null].filter((value) => rule.accepts(value))).toEqual([0, 10]);
  const nonZero = except(rule, 0, 'not 0');
  expect([0, 1].map((value) => nonZero.accepts(value))).toEqual([false, true]);
  expect(nonZero.expected).toBe('not 0');
});

describe('text', () => {
  const name = text({ min: 1, max: 200, notBlank: true });

  test.each([
    ['one character', 'a'],
    ['200 characters', 'a'.repeat(200)],
    ['200 characters of two UTF-16 units each', DOG.repeat(200)],
    ['white space around something', ' a '],
  ])('accepts %s', (_what, value) => expect(name.accepts(value)).toBe(true));

  test.each([
    ['nothing', ''],
    ['201 characters', 'a'.repeat(201)],
    ['201 characters of two UTF-16 units each', DOG.repeat(201)],
    ['199 characters of two UTF-16 units and two of one', DOG.repeat(199) + 'ab'],
    ['blanks', '  \t\n'],
    ['white space beyond ASCII', '\u00a0\u2003\u3000'],
    ['NUL', 'a\0b'],
    ['an unpaired high surrogate', 'a\ud83d'],
    ['an unpaired low surrogate', '\udc15a'],
    ['surrogates the wrong way round', '\udc15\ud83d'],
    ['a number', 1],
    ['null', null],
    ['an array', ['a']],
  ])('rejects %s', (_what, value) => expect(name.accepts(value)).toBe(false));

  it('accepts empty and blank text where allowed', () => {
    const description = text({ min: 0, max: 2_000 });
    const good = ['', ' ', DOG.repeat(2_000)];
    expect(good.filter((value) => description.accepts(value))).toEqual(good);
  });
});

test.each([
  ['one of the values', oneOf(['a', 'b']), ['a', 'b'], ['c', 'A', '', 1, null, ['a']]],
  ['true or false', boolean, [true, false], ['true', 1, 0, null]],
])('%s is the only accepted value', (_what, rule, good, bad) => {
  expect([...good, ...bad].filter((value) => rule.accepts(value))).toEqual(good);
});

it('A boolean is written true or false', () => {
  const read = ['true', 'false', 'True', '1'].map((text) => boolean.parse!(text));
  expect(read).toEqual([true, false, 'True', '1']);
});

it('A timestamp is RFC 3339 with an offset, of a day that there is, in the years 0001 to 9999 in UTC', () => {
  const good = [
    '2026-11-21T09:30:00Z 2026-11-21T09:30:00.1234567890+02:00 2026-11-21t09:30:00z 2028-02-29T00:00:00-12:30',
    '2016-12-31T23:59:60Z 1990-12-31T15:59:60.5-08:00',
    '0001-01-01T00:00:00Z 9999-12-31T23:59:59.999Z',
  ].flatMap((line) => line.split(' '));
  const bad = [
    '2026-11-21 2026-11-21T09:30:00 2026-02-29T00:00:00Z 2026-11-31T00:00:00Z 2026-13-01T00:00:00Z',
    '2026-11-21T24:00:00Z 2026-11-21T09:60:00Z 2026-11-21T09:30:60Z 2026-11-21T09:30:00+24:00 0000-12-31T23:59:59Z',
    '2026-11-21T23:59:60Z 2016-12-31T23:59:60+01:00 2016-12-31T23:59:61Z 9999-12-31T23:59:60Z',
    '0001-01-01T00:00:00+00:01 9999-12-31T23:59:59-00:01 +12026-11-21T09:30:00Z',
  ].flatMap((line) => line.split(' '));
  const all = [...good, ...bad, '2026-11-21 09:30:00Z', 1795253400, null];
  expect(all.filter((value) => timestamp.accepts(value))).toEqual(good);
});
