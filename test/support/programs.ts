import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that tests run and that no npm package contains. */
export interface Program {
  /** The names under which the program may be installed. */
  names: string[];
  debianPackage: string;
  /** A folder outside of the PATH that has the program once for each version. */
  versions?: string;
}

const REDIS: Program = { names: ['redis-server'], debianPackage: 'redis-server' };
export const HAPROXY: Program = { names: ['haproxy'], debianPackage: 'haproxy' };
export const POSTGRESQL: Program = {
  names: ['initdb'],
  debianPackage: 'postgresql',
  versions: '/usr/lib/postgresql',
};
export const PGBOUNCER: Program = { names: ['pgbouncer'], debianPackage: 'pgbouncer' };
export const PROMTOOL: Program = { names: ['promtool'], debianPackage: 'prometheus' };
const CURL: Program = { names: ['curl'], debianPackage: 'curl' };
const PYTHON: Program = { names: ['python3'], debianPackage: 'python3' };
/** A module of Python, which the samples of the reference page use. */
export const REQUESTS: Program = { names: ['requests of Python'], debianPackage: 'python3-requests' };
export const FAKETIME: Program = { names: ['faketime'], debianPackage: 'faketime' };
/** Its package also has the sources of all locales. */
export const LOCALES: Program = { names: ['locale-gen'], debianPackage: 'locales' };
export const CHROMIUM: Program = {
  names: ['chromium', 'chromium-browser', 'google-chrome'],
  debianPackage: 'chromium',
};
/** The programs that the system tests run. */
export const PROGRAMS = [REDIS, HAPROXY, PGBOUNCER, POSTGRESQL, PROMTOOL, CHROMIUM, CURL, PYTHON, REQUESTS];

/** @returns the program's path, or undefined if it is not installed */
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

/** Makes sure that these programs are installed. As root on Debian, it installs the missing ones; otherwise it throws. */
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
  // In any other run level, Debian starts a server as soon as its package is installed.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...packages.split(' ')];
  execFileSync('apt-get', install, { stdio: 'inherit', env });
}
