// PostgreSQL refuses to run as root. Started by root, the server runs under another account, which must be able to
// access it.
import { chmodSync, chownSync, lstatSync, mkdirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, EmbeddedPostgresError } from './errors';

/** A user and group by number. */
export interface Account {
  uid: number;
  gid: number;
}

/** Nobody: an account that every Linux and macOS has in some form, and that owns nothing. */
export const NOBODY: Account = { uid: 65534, gid: 65534 };

export function isRoot(): boolean {
  return process.geteuid!() === 0;
}

/** The owner of a file or folder; undefined if it is root. */
export function ownerOf(path: string): Account | undefined {
  const { uid, gid } = lstatSync(path);
  return uid === 0 ? undefined : { uid, gid };
}

/**
 * The outermost folder that keeps the account from reaching `directory`, judged by owner, group and mode; undefined if
 * the directory is reachable. Access control lists are ignored.
 */
export function blockedAt(directory: string, account: Account): string | undefined {
  let blocked: string | undefined;
  for (let folder = realpathSync(directory); ; folder = dirname(folder)) {
    if (!mayEnter(statSync(folder), account)) blocked = folder;
    if (folder === dirname(folder)) return blocked;
  }
}

function mayEnter(stats: Stats, account: Account): boolean {
  if (stats.uid === account.uid) return (stats.mode & 0o100) !== 0;
  if (stats.gid === account.gid) return (stats.mode & 0o010) !== 0;
  return (stats.mode & 0o001) !== 0;
}

/** Lets the account enter a folder of root, but not list it. */
export function letIn(path: string, account: Account): void {
  try {
    chownSync(path, 0, account.gid);
  } catch (error) {
    throw cannotActAs(account, codeOf(error));
  }
  chmodSync(path, 0o710);
}

/** Root without the right to change owners or users, as in some containers, cannot run PostgreSQL. */
export function cannotActAs(account: Account, code: string | undefined): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and this process may not act as uid ${account.uid} (${code}); ` +
      'run as an ordinary user or give a database of your own',
  );
}

/**
 * Creates `<shared>/<name>`, which everyone may enter and only root may write. Binaries run from it.
 *
 * @throws EmbeddedPostgresError if it cannot be created, or another user owns it or may write to it
 */
export function sharedFolder(shared: string, name: string): string {
  const folder = join(shared, name);
  for (const path of [shared, folder]) {
    mkdirSync(path, { recursive: true });
    checkOwnAndClosed(path);
    // The umask may have removed these rights.
    chmodSync(path, 0o755);
  }
  return folder;
}

/** @throws EmbeddedPostgresError if the folder does not belong to this user, or others may write to it */
export function checkOwnAndClosed(path: string): void {
  const stats = lstatSync(path);
  if (stats.isDirectory() && stats.uid === process.geteuid!() && (stats.mode & 0o022) === 0) return;
  throw new EmbeddedPostgresError(
    `${path} must be a folder that belongs to this user and that nobody else may write`,
  );
}
