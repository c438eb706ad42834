import type { LockedPackage } from '../../../support/lock-file';

/** Licences that ask for no more than to be named: their code may be part of software under any licence. */
const PERMISSIVE = new Set(
  '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT PostgreSQL Python-2.0 Unlicense Zlib'.split(
    ' ',
  ),
);

/** Packages that are let in although the lock file names no such licence, and why. */
const EXCEPTIONS: Record<string, string> = {
  busboy: 'MIT, said in the old form (`licenses`), which npm does not read',
  streamsearch: 'MIT, said in the old form (`licenses`), which npm does not read',
  'compute-gcd': 'MIT, said in the old form; development only',
  'compute-lcm': 'MIT, said in the old form; development only',
  'validate.io-function': 'MIT, said in the old form; development only',
  'validate.io-integer': 'MIT, said in the old form; development only',
  'validate.io-integer-array': 'MIT, said in the old form; development only',
  'validate.io-number': 'MIT, said in the old form; development only',
  'caniuse-lite': 'CC-BY-4.0 for data about browsers, which are not shipped; development only',
};

/** Whether a flat SPDX expression can be met with permissive licences alone. One that nests AND and OR counts as one that cannot. */
export function isPermissive(expression: string): boolean {
  const flat = expression.replace(/^\((.*)\)$/, '$1');
  if (/[()]/.test(flat) || (flat.includes(' OR ') && flat.includes(' AND '))) {
    return false;
  }
  const parts = flat.split(/ OR | AND /);
  return flat.includes(' OR ')
    ? parts.some((part) => PERMISSIVE.has(part))
    : parts.every((part) => PERMISSIVE.has(part));
}

export function refusedLicences(packages: LockedPackage[]): string[] {
  return packages
    .filter(({ name, license = '' }) => !isPermissive(license) && !(name in EXCEPTIONS))
    .map(({ name, version, license = 'no licence' }) => `${name} ${version}: ${license}`);
}

/** Exceptions that no package needs any more. */
export function idleExceptions(packages: LockedPackage[]): string[] {
  const needed = packages.filter(({ license = '' }) => !isPermissive(license)).map(({ name }) => name);
  return Object.keys(EXCEPTIONS).filter((name) => !needed.includes(name));
}

/** Exceptions that say so must be for development only. */
export function shippedExceptions(packages: LockedPackage[]): string[] {
  return packages
    .filter(({ name, dev }) => EXCEPTIONS[name]?.endsWith('development only') && dev !== true)
    .map(({ name }) => name);
}
