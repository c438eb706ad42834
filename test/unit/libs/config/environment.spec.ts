import { EnvironmentError, EnvironmentReader } from '../../../../src/runtime/environment';
import { usableCores } from '../../../../src/runtime/usable-cores';

const read = (value?: string) => new EnvironmentReader({ NAME: value });

/** What each text is read as; `fallback` stands for an absent value. */
function readings(
  parse: (value?: string) => unknown,
  texts: Record<string, unknown>,
  fallback: unknown,
): void {
  for (const [text, value] of Object.entries(texts)) {
    expect([text, parse(text)]).toEqual([text, value]);
  }
  expect(parse()).toEqual(fallback);
}

it('A text is read without the white space around it, and is absent when nothing is left', () => {
  const text = (value?: string) => read(value).text('NAME', 'fallback');
  readings(text, { a: 'a', '  a b ': 'a b', '': 'fallback', ' \t': 'fallback' }, 'fallback');
  expect(read().text('NAME')).toBeUndefined();
});

it('An integer is decimal digits within its bounds', () => {
  const integer = (value?: string) => read(value).integer('NAME', 5, { min: 1, max: 10 });
  readings(integer, { 1: 1, 10: 10, '007': 7 }, 5);
  for (const value of '0 11 -1 +1 1.0 1e0 x 99999999999999999999 Infinity NaN ١'.split(' ')) {
    const message = `NAME takes a whole number from 1 to 10, not ${JSON.stringify(value)}.`;
    expect(() => integer(value)).toThrow(message);
  }
});

it('One of several is one of them', () => {
  const oneOf = (value?: string) => read(value).oneOf('NAME', ['a', 'b'], 'b');
  readings(oneOf, { a: 'a', b: 'b' }, 'b');
  expect(() => oneOf('c')).toThrow('NAME takes one of a, b, not "c".');
});

it('A list is separated by commas, and names the rejected entry', () => {
  const list = (value?: string) => read(value).list('NAME', 'small words', (entry) => /^[a-z]+$/.test(entry));
  readings(list, { a: ['a'], ' a , b,c': ['a', 'b', 'c'], 'a,,b,': ['a', 'b'], ',': [] }, []);
  expect(() => list('a,B')).toThrow('NAME takes small words, not "B".');
});

describe('url', () => {
  const url = (value?: string) => read(value).url('NAME', ['a:', 'b:']);

  it('accepts the given schemes, and does not change the text', () => {
    readings(url, { 'a://x:p%20w@h/d': 'a://x:p%20w@h/d', 'b://h': 'b://h' }, undefined);
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

test.each([
  ['without a limit, all cores', 8, 'max 100000\n', 8],
  ['where nothing is told, all cores', 8, 'max', 8],
  ['no more than the limit allows', 8, '200000 100000\n', 2],
  ['a limit between two numbers is rounded down', 8, '350000 100000\n', 3],
  ['at least one', 8, '50000 100000\n', 1],
  ['no more cores than there are', 2, '800000 100000\n', 2],
  ['what cannot be read limits to one', 4, 'nonsense', 1],
])('%s', (_name, cores, limit, usable) => {
  expect(usableCores(cores, limit)).toBe(usable);
});
