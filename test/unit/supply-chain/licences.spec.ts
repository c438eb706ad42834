import { lockedPackages } from '../../support/lock-file';

/** Licences that ask for no more than to be named: their code may be part of software under any licence. */
const PERMISSIVE = new Set(
  '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT PostgreSQL Python-2.0 Unlicense Zlib'.split(
    ' ',
  ),
);

/** Accepted nevertheless, for development only: CC-BY-4.0 for data about browsers. */
const EXCEPTIONS = ['caniuse-lite'];

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
