import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that no npm package brings. */
export interface Program {
  /** Under any of these names. */
  names: string[];
  debianPackage: string;
  /** A folder with one for each version, outside of the PATH. */
  versions?: string;
}

export const REDIS: Program = { names: ['redis-server'], debianPackage: 'redis-server' };
export const HAPROXY: Program = { names: ['haproxy'], debianPackage: 'haproxy' };
export const POSTGRESQL: Program = {
  names: ['initdb'],
  debianPackage: 'postgresql',
  versions: '/usr/lib/postgresql',
};
export const PGBOUNCER: Program = { names: ['pgbouncer'], debianPackage: 'pgbouncer' };
export const PROMTOOL: Program = { names: ['promtool'], debianPackage: 'prometheus' };
export const CURL: Program = { names: ['curl'], debianPackage: 'curl' };
export const PYTHON: Program = { names: ['python3'], debianPackage: 'python3' };
/** A module of Python, which the samples of the reference page use. */
export const REQUESTS: Program = { names: ['requests of Python'], debianPackage: 'python3-requests' };
export const FAKETIME: Program = { names: ['faketime'], debianPackage: 'faketime' };
/** With the sources of all locales. */
export const LOCALES: Program = { names: ['locale-gen'], debianPackage: 'locales' };
export const CHROMIUM: Program = {
  names: ['chromium', 'chromium-browser', 'google-chrome'],
  debianPackage: 'chromium',
};

/** @returns the program's path, or undefined where it is not on the PATH */
export function findProgram({
  names,
  versions = '',
}: Pick<Program, 'names' | 'versions'>): string | undefined {
  const installed = existsSync(versions) ? readdirSync(versions) : [];
  const folders = [
    ...installed.map((version) => join(versions, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

function hasRequests(): boolean {
  return spawnSync('python3', ['-c', 'import requests']).status === 0;
}

/** Finds all of these programs, or installs what is missing where that is possible: as root on Debian. */
export function ensurePrograms(...programs: Program[]): void {
  const missing = programs.filter((program) =>
    program === REQUESTS ? !hasRequests() : findProgram(program) === undefined,
  );
  if (missing.length === 0) {
    return;
  }
  const packages = missing.map(({ debianPackage }) => debianPackage).join(' ');
  if (process.getuid?.() !== 0 || !findProgram({ names: ['apt-get'] })) {
    const wanted = missing.map(({ names }) => names.join(' or ')).join(' and ');
    throw new Error(`The tests need ${wanted} on the PATH (Debian: apt-get install ${packages}).`);
  }
  process.stderr.write(`Installing ${packages} with apt-get …\n`);
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit' });
  // Debian would start a server of its own at once; the run level says not to.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...packages.split(' ')];
  execFileSync('apt-get', install, { stdio: 'inherit', env });
}
