import { EnvironmentError, EnvironmentReader } from '#libs/config';

const read = (value?: string) => new EnvironmentReader({ NAME: value });

describe('text', () => {
  test.each([
    ['a', 'a'],
    ['  a b ', 'a b'],
    ['', 'fallback'],
    [' \t', 'fallback'],
    [undefined, 'fallback'],
  ])('%j is read as %j', (value, expected) => {
    expect(read(value).text('NAME', 'fallback')).toBe(expected);
  });

  it('is undefined without a value and without a fallback', () => {
    expect(read().text('NAME')).toBeUndefined();
  });
});

describe('integer', () => {
  const integer = (value?: string) => read(value).integer('NAME', 5, { min: 1, max: 10 });

  test.each([
    ['1', 1],
    ['10', 10],
    ['007', 7],
    [undefined, 5],
  ])('%j is read as %j', (value, expected) => {
    expect(integer(value)).toBe(expected);
  });

  test.each(['0', '11', '-1', '+1', '1.0', '1e0', 'x', '99999999999999999999', 'Infinity', 'NaN', '١'])(
    '%j is rejected',
    (value) => {
      expect(() => integer(value)).toThrow(
        `NAME takes a whole number from 1 to 10, not ${JSON.stringify(value)}.`,
      );
    },
  );
});

describe('oneOf', () => {
  const oneOf = (value?: string) => read(value).oneOf('NAME', ['a', 'b'], 'b');

  it('accepts a choice, and uses the fallback without a value', () => {
    expect([oneOf('a'), oneOf('b'), oneOf()]).toEqual(['a', 'b', 'b']);
  });

  it('rejects anything else', () => {
    expect(() => oneOf('c')).toThrow('NAME takes one of a, b, not "c".');
  });
});

describe('list', () => {
  const list = (value?: string) => read(value).list('NAME', 'small words', (entry) => /^[a-z]+$/.test(entry));

  test.each([
    ['a', ['a']],
    [' a , b,c', ['a', 'b', 'c']],
    ['a,,b,', ['a', 'b']],
    [',', []],
    [undefined, []],
  ])('%j is read as %j', (value, expected) => {
    expect(list(value)).toEqual(expected);
  });

  it('names the rejected entry', () => {
    expect(() => list('a,B')).toThrow('NAME takes small words, not "B".');
  });
});

describe('url', () => {
  const url = (value?: string) => read(value).url('NAME', ['a:', 'b:']);

  it('accepts the given schemes, and does not change the text', () => {
    expect([url('a://x:p%20w@h/d'), url('b://h'), url()]).toEqual(['a://x:p%20w@h/d', 'b://h', undefined]);
  });

  test.each(['c://h', 'a:h', 'a:/h', '//h', 'h', 'ab://h'])('rejects %j without repeating it', (value) => {
    expect(() => url(value)).toThrow(
      new EnvironmentError('NAME', 'a URL that starts with a:// or b://', '…'),
    );
  });

  test.each(['a://[', 'a://h:65536', 'a://x:p%@h', 'a://%zz@h', 'a://h/%zz'])(
    'rejects %j, which no client can parse, and mentions port and encoding',
    (value) => {
      expect(() => url(value)).toThrow(/^NAME takes a URL with a port .+ percent-encoded .+, not "…"\.$/);
    },
  );
});

it('A message is one line, whatever the value', () => {
  const { message } = new EnvironmentError('NAME', 'a word', `"a"\r\nb\u0007${'x'.repeat(500)}`);
  expect(message).toMatch(/^NAME takes a word, not "\\"a\\"\\r\\nb\\u0007x+…"\.$/);
  expect(message.length).toBeLessThan(120);
});
