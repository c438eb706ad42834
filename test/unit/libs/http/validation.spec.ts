import fc from 'fast-check';
import {
  Id,
  Integer,
  OneOf,
  Text,
  Timestamp,
  TrueOrFalse,
  cursorAfter,
  parseJson,
  rangeOf,
  validated,
} from '#libs/http';

const DOG = '🐕';
const ANY = { description: '' };
const optional = { ...ANY, optional: true };

class Body {
  @Text({ ...ANY, min: 1, max: 5 })
  name!: string;

  @Id(optional)
  owner?: number;

  @Id({ ...ANY, nullable: true })
  removable?: number | null;
}

class Query {
  @Id({ ...ANY, times: 1 })
  limit: number = 20;

  @Id({ ...ANY, times: 2 })
  id?: number[];
}

class MoreQuery extends Query {
  @Id({ ...ANY, times: 1 })
  owner?: number;

  @TrueOrFalse({ ...ANY, times: 1 })
  done?: boolean;
}

function refusalOf(shape: new () => object, value: object, isText = false): unknown {
  try {
    return validated(shape, value, isText);
  } catch (error) {
    return { ...(error as object), message: (error as Error).message };
  }
}

/** The values that a field with this decorator accepts. */
function accepted(decorator: PropertyDecorator, values: readonly unknown[]): unknown[] {
  class Shape {
    value?: unknown;
  }
  decorator(Shape.prototype, 'value');
  return values.filter((value) => refusalOf(Shape, { value }) instanceof Shape);
}

describe('a body', () => {
  it('becomes an instance with exactly the fields that were sent', () => {
    const body = validated(Body, { name: 'Rex', removable: null });
    expect(body).toBeInstanceOf(Body);
    expect({ ...body }).toEqual({ name: 'Rex', removable: null });
  });

  test.each([
    [{}, 'name is required and must be 1 to 5 characters, without NUL or unpaired surrogates.'],
    [{ name: 'Rexxxx' }, 'name must be 1 to 5 characters, without NUL or unpaired surrogates.'],
    [{ name: 'Rex', owner: null }, 'owner must be an integer from 1 to 9007199254740991.'],
    [{ name: 'Rex', removable: 0 }, 'removable must be an integer from 1 to 9007199254740991, or null.'],
    [{ name: 'Rex', age: 3 }, '"age" is not allowed here (allowed: name, owner, removable).'],
  ])('%j is rejected with a message that names the field and what is expected', (body, message) => {
    expect(refusalOf(Body, body)).toMatchObject({ status: 400, code: 'validation_failed', message });
  });

  it('reports at most five problems, unknown fields first, and how many more there are', () => {
    const { message } = refusalOf(Body, { a: 1, b: 1, c: 1, d: 1, name: 1, owner: 1.5, e: 1 }) as Error;
    const names = message.split('; ').map((problem) => problem.split(' ')[0]);
    expect(names).toEqual(['"a"', '"b"', '"c"', '"d"', '"e"', '2']);
    expect(message).toMatch(/; 2 more\.$/);
  });
});

describe('a query', () => {
  test.each([
    [{}, { limit: 20 }],
    [{ limit: '7' }, { limit: 7 }],
    [{ id: '1' }, { limit: 20, id: [1] }],
    [
      { id: ['1', '2'], owner: '3', done: 'false' },
      { limit: 20, id: [1, 2], owner: 3, done: false },
    ],
  ])('%j is read as %j', (sent, read) => {
    expect({ ...validated(MoreQuery, sent, true) }).toEqual(read);
  });

  test.each([
    [{ limit: ['1', '2'] }, /^limit must be .*, given once\.$/],
    [{ limit: '' }, /^limit must be an integer/],
    [{ id: ['1', '2', '3'] }, /^id must be .*, given at most 2 times \(id=…&id=…\)\.$/],
    [{ id: ['1', 'x'] }, /^id must be an integer/],
    [{ done: '1' }, /^done must be true or false, given once\.$/],
    [{ page: '1' }, /^"page" is not allowed here \(allowed: limit, id, owner, done\)\.$/],
    [{ toString: '1' }, /^"toString" is not allowed here/],
  ])('%j is rejected', (sent, message) => {
    expect(refusalOf(MoreQuery, sent, true)).toMatchObject({
      code: 'validation_failed',
      message: expect.stringMatching(message),
    });
  });

  it('has one way to write a number', () => {
    const bad =
      '|0|01|+1|-1|1.0|1e2|0x1| 1|1 |1\n|١|9007199254740992|9007199254740993|10000000000000000000000|NaN';
    const isRead = (limit: string) => refusalOf(Query, { limit }, true) instanceof Query;
    expect(['1', '9007199254740991', ...bad.split('|')].filter(isRead)).toEqual(['1', '9007199254740991']);
  });
});

const NAME = Text({ ...ANY, min: 1, max: 200, notBlank: true });
const NAMES = ['a', 'a'.repeat(200), DOG.repeat(200)];
const TOO_LONG = ['a'.repeat(201), DOG.repeat(201)];
const BLANK = ['', '  \t\n', '\u00a0\u2003\u3000'];
const UNPAIRED_SURROGATES = ['a\ud83d', '\udc15\ud83d'];
const NOT_IDS = [0, -1, 1.5, 2 ** 53, Infinity, NaN, '1', null, undefined, true, [1], {}];
test.each([
  ['name', NAME, NAMES, [...TOO_LONG, ...BLANK, ...UNPAIRED_SURROGATES, 'a\0b', ['a'], 1, null]],
  ['text that may be blank', Text({ ...ANY, max: 2_000 }), ['', ' ', DOG.repeat(2_000)], []],
  ['id', Id(ANY), [1, 42, Number.MAX_SAFE_INTEGER], NOT_IDS],
  ['integer in its bounds', Integer({ ...ANY, min: 0, max: 10 }), [0, 10], [-1, 11, 1.5, '1', 1e400, null]],
  ['integer but one', Integer({ ...ANY, min: -1, max: 1, except: 0 }), [-1, 1], [0, 2]],
  ['value of a list', OneOf(['a', 'b'], ANY), ['a', 'b'], ['c', 'A', '', 1, null, ['a']]],
  ['true or false', TrueOrFalse(ANY), [true, false], ['true', 1, 0, null]],
])('%s', (_what, decorator, good, bad) => {
  expect(accepted(decorator, [...good, ...bad])).toEqual(good);
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
  expect(accepted(Timestamp(ANY), [...good, ...bad, '2026-11-21 09:30:00Z', 1795253400, null])).toEqual(good);
});

describe('a cursor', () => {
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
});

describe('the JSON of a body', () => {
  const parse = (text: string) => parseJson(Buffer.from(text));

  it('Any bytes are read or rejected with 400', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          parseJson(Buffer.from(bytes));
        } catch (error) {
          expect(error).toMatchObject({
            status: 400,
            code: expect.stringMatching(/^(malformed_json|validation_failed)$/) as string,
          });
        }
      }),
    );
  });

  test.each([
    ['"__proto__"', '__proto__'],
    ['\uFEFF1', 1],
    ['-0', -0],
    ['1e400', Infinity],
  ])('%s is read as %j', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  test.each([
    ['{"a":[0.99999999999999999999,"0.99999999999999999999"]}', { a: [0.5, '0.99999999999999999999'] }],
    ['-49e-326', 0.5],
    ['1e-400', 0.5],
    ['1.5', 1.5],
    ['900719925474099.99', 0.5],
    ['1000000000000000.5', 1000000000000000.5],
    ['9007199254740992.5', 0.5],
    ['0.000e-99999999999', 0],
    ['12300000000000000000000E-20', 123],
    ['"\\"1e-999\\\\"', '"1e-999\\'],
  ])('%s does not become an integer by rounding: %j', (text, value) => {
    expect(parse(text)).toEqual(value);
  });

  test.each([
    ['a byte that is invalid in UTF-8', '"\xff"'],
    ['latin1', '"\xe9"'],
    ['an overlong sequence', '"\xc0\xaf"'],
    ['a surrogate', '"\xed\xa0\x80"'],
    ['a sequence that ends too early', '1\xe2\x82'],
    ['UTF-16', '\xff\xfe1\0'],
  ])('%s is refused, not replaced', (_what, bytes) => {
    const parsed = () => parseJson(Buffer.from(bytes, 'latin1'));
    expect(parsed).toThrow(expect.objectContaining({ code: 'malformed_json' }));
  });

  test('One byte order mark is ignored, and a second one is invalid', () => {
    expect(() => parse('\uFEFF\uFEFF1')).toThrow('The body is not valid JSON');
  });
});
