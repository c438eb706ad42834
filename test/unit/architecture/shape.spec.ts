import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { overloadedConstructors } from './support/classes';
import { ROOT } from '../../support/cruise';

const MOST_LINES = 200;
const MOST_DEPENDENCIES = 5;

/** Generated from the document, and as long as that makes it. */
const GENERATED = ['schema', 'routes', 'error-classes'].map((name) => `libs/client/src/${name}.ts`);

const files = ['src', 'libs'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !GENERATED.includes(`${folder}/${file}`))
    .map((file) => ({ file: `${folder}/${file}`, text: readFileSync(join(ROOT, folder, file), 'utf8') })),
);
const tooLong = (text: string) => text.trimEnd().split('\n').length > MOST_LINES;
const postponed = (text: string) => /\bforwardRef\b/.test(text);

it('checks all sources', () => {
  expect(files.length).toBeGreaterThan(150);
});

it(`No file is longer than ${MOST_LINES} lines`, () => {
  expect(files.filter(({ text }) => tooLong(text)).map(({ file }) => file)).toEqual([]);
});

it(`No constructor takes more than ${MOST_DEPENDENCIES} dependencies`, () => {
  const found = files.map(
    ({ file, text }) => [file, overloadedConstructors(text, MOST_DEPENDENCIES)] as const,
  );
  expect(found.filter(([, classes]) => classes.length > 0)).toEqual([]);
});

it('No circle is hidden behind a forwardRef', () => {
  expect(files.filter(({ text }) => postponed(text)).map(({ file }) => file)).toEqual([]);
});

describe('The rules catch', () => {
  it('a file of 201 lines, and not one of 200', () => {
    expect([tooLong('a\n'.repeat(201)), tooLong('a\n'.repeat(200))]).toEqual([true, false]);
  });

  it('a constructor of six dependencies, and not one of five', () => {
    const classOf = (parameters: number) => {
      const list = Array.from({ length: parameters }, (_none, index) => `private readonly a${index}: A`);
      return `const mixed = () => class extends Base { constructor(${list.join(', ')}) { super(); } };`;
    };
    expect(overloadedConstructors(classOf(6), MOST_DEPENDENCIES)).toEqual(['class (6)']);
    expect(overloadedConstructors(classOf(5), MOST_DEPENDENCIES)).toEqual([]);
  });

  it('a forwardRef', () => {
    expect(postponed('@Inject(forwardRef(() => PetsService))')).toBe(true);
  });
});
