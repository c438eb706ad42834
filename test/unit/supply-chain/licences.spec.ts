import { idleExceptions, isPermissive, refusedLicences, shippedExceptions } from './support/licences';
import { lockedPackages } from '../../support/lock-file';

const packages = lockedPackages();

it('Every package has a licence that requires only attribution, or is an exception with a reason', () => {
  expect(packages.length).toBeGreaterThan(500);
  expect(refusedLicences(packages)).toEqual([]);
});

it('Every exception is needed, and none made for development is shipped', () => {
  expect([idleExceptions(packages), shippedExceptions(packages)]).toEqual([[], []]);
});

it.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['(MIT AND Zlib)', true],
  ['Apache-2.0 AND MIT', true],
  ['GPL-3.0-only', false],
  ['(MIT AND GPL-3.0-only)', false],
  ['AGPL-3.0-or-later', false],
  ['SEE LICENSE IN LICENSE.txt', false],
  ['UNLICENSED', false],
  ['(MIT OR GPL-3.0-only) AND SSPL-1.0', false],
])('%s is permissive: %s', (expression, permissive) => {
  expect(isPermissive(expression)).toBe(permissive);
});

it('A package without a licence is rejected', () => {
  expect(refusedLicences([{ name: 'nobodys', version: '1.0.0' }])).toEqual(['nobodys 1.0.0: no licence']);
});
