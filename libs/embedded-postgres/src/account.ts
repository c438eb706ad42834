import { lstatSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './errors';

/** A user and group by number. */
export interface Account {
  uid: number;
  gid: number;
}

/** Nobody: an account which every Linux and macOS has in one form or other and which owns nothing. */
const NOBODY: Account = { uid: 65534, gid: 65534 };

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * As whom the server must run, PostgreSQL refuses root: as the owner of what is there already, so that a
 * folder of an ordinary user stays his, else as nobody.
 *
 * @returns undefined where this process is not root and the server runs as the same user
 */
export function accountFor(directory: string): Account | undefined {
  if (!isRoot()) return undefined;
  const { uid, gid } = statSync(directory);
  return uid === 0 ? NOBODY : { uid, gid };
}

/**
 * The outermost folder which keeps the account from reaching `directory`, judged by owner, group and mode;
 * undefined where nothing does. Access lists are not looked at.
 */
export function blockedAt(directory: string, account: Account): string | undefined {
  let blocked: string | undefined;
  for (let folder = realpathSync(directory); ; folder = dirname(folder)) {
    if (!mayEnter(statSync(folder), account)) blocked = folder;
    if (folder === dirname(folder)) return blocked;
  }
}

/** Root without the right to change owners or users, as in some containers, cannot run PostgreSQL at all. */
export function cannotActAs(account: Account, code: string | undefined): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and this process may not act as uid ${account.uid} (${code}); ` +
      'run as an ordinary user or give a database of your own',
  );
}

function mayEnter(stats: Stats, account: Account): boolean {
  if (stats.uid === account.uid) return (stats.mode & 0o100) !== 0;
  if (stats.gid === account.gid) return (stats.mode & 0o010) !== 0;
  return (stats.mode & 0o001) !== 0;
}

/** Whether a file or folder belongs to this process's user and nobody else may write it. */
export function isOwnAndClosed(path: string): boolean {
  const stats = lstatSync(path);
  return isOwn(stats) && (stats.isSymbolicLink() || (stats.mode & 0o022) === 0);
}

function isOwn(stats: Stats): boolean {
  return process.geteuid === undefined || stats.uid === process.geteuid();
}
