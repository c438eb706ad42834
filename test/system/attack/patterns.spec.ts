import { weaknessOf } from './support/pattern-attack';
import { allPatterns, patternsIn } from './support/patterns';

const { literals, built } = allPatterns();
/** Made at the start from the service's own routes, in which no caller has a say. */
const KNOWN_BUILT = ['libs/http/src/allowed-methods.ts'];

it('All patterns of the sources are found', () => {
  expect(literals.length).toBeGreaterThan(50);
});

it('No pattern is put together from what a caller sends: there is none but these', () => {
  expect(built.map((place) => place.split(':')[0])).toEqual(KNOWN_BUILT);
});

it.each(literals.map(({ file, source, flags }) => [`/${source}/${flags}`, file]))(
  '%s of %s takes no longer the more of anything there is',
  (text, file) => {
    const end = text.lastIndexOf('/');
    expect(weaknessOf({ file, source: text.slice(1, end), flags: text.slice(end + 1) })).toBeNull();
  },
);

describe('the attack finds', () => {
  it.each([
    ['repetition inside of repetition', '^(a+)+$', ''],
    ['alternatives that overlap', '^(\\w|a)*$', ''],
    ['two neighbours that take the same', '^\\d+[0-9]+$', ''],
    ['white space around a line break', '\\s+\\n', 'g'],
    ['a repetition behind a beginning', '^bearer (.*)*x$', 'i'],
  ])('%s', (_what, source, flags) => {
    expect(weaknessOf({ file: '', source, flags })).not.toBeNull();
  });

  it('patterns wherever they stand', () => {
    const text = 'const a = b.replace(/x\\/y/gi, (c) => /d[/]e/.test(c) ? new RegExp(c) : RegExp("f"));';
    const { literals: found, built: made } = patternsIn('a.ts', text);
    expect(found.map(({ source, flags }) => [source, flags])).toEqual([
      ['x\\/y', 'gi'],
      ['d[/]e', ''],
    ]);
    expect(made).toHaveLength(2);
  });
});
