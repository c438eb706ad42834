// PostgreSQL refuses to run as root. Started by root, the server runs under an account that nobody else uses, and that
// needs to reach nothing but its own data: the programs find those as their working directory.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { codeOf, EmbeddedPostgresError } from './errors';

/** A user and group by number. */
export interface Account {
  uid: number;
  gid: number;
}

export const ROOT: Account = { uid: 0, gid: 0 };
/** Numbers that systems give to people and services only one by one, from the other end. Mapped in containers, too. */
const PRIVATE = { first: 40_000, last: 59_999 };

export function isRoot(): boolean {
  return process.geteuid!() === 0;
}

export function isPrivate({ uid }: Account): boolean {
  return uid >= PRIVATE.first && uid <= PRIVATE.last;
}

/** An account for the data of this folder, the same at each call, that the system does not list. */
export function privateAccount(folder: fs.Stats): Account {
  const listed = new Set(listedAccounts().map(({ uid }) => uid));
  const count = PRIVATE.last - PRIVATE.first + 1;
  let uid = PRIVATE.first + (folder.ino % count);
  while (listed.has(uid)) uid = uid === PRIVATE.last ? PRIVATE.first : uid + 1;
  return { uid, gid: uid };
}

/**
 * An account for initdb, which runs only under one that the system lists. No process has it, so nobody can interfere.
 *
 * @throws EmbeddedPostgresError if there is none
 */
export function idleAccount(): Account {
  const used = usedAccounts();
  const idle = listedAccounts().find(({ uid }) => uid !== 0 && !used.has(uid));
  if (idle) return idle;
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and /etc/passwd has no account without processes to create a database with; ' +
      'add one, run as an ordinary user or give a database of your own',
  );
}

function listedAccounts(): Account[] {
  const lines = fs.readFileSync('/etc/passwd', 'utf8').split('\n');
  const accounts = lines.map((line) => line.split(':')).filter((fields) => /^\d+$/.test(fields[2] ?? ''));
  return accounts.map(([, , uid, gid]) => ({ uid: Number(uid), gid: Number(gid) }));
}

/** The users of all processes: real, effective, saved and for files. */
function usedAccounts(): Set<number> {
  const used = new Set<number>();
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [, uids = ''] = /^Uid:(.*)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      for (const uid of uids.trim().split(/\s+/)) used.add(Number(uid));
    } catch {
      // The process has ended.
    }
  }
  return used;
}

/**
 * Gives a folder and all in it to the account. From the top: what is in a folder that already belongs to the account
 * cannot be exchanged by the former owner.
 *
 * @throws EmbeddedPostgresError if this process may not do that
 */
export function giveTo(account: Account, path: string): void {
  const stats = fs.lstatSync(path);
  if (stats.isFile() && stats.nlink > 1) {
    throw new EmbeddedPostgresError(`${path} is one of several links to a file; replace it by a copy`);
  }
  try {
    fs.lchownSync(path, account.uid, account.gid);
  } catch (error) {
    throw cannotActAs(account, codeOf(error));
  }
  if (!stats.isDirectory()) return;
  fs.chmodSync(path, 0o700);
  for (const name of fs.readdirSync(path)) giveTo(account, join(path, name));
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
    fs.mkdirSync(path, { recursive: true });
    const stats = fs.lstatSync(path);
    if (!stats.isDirectory() || stats.uid !== 0 || (stats.mode & 0o022) !== 0) {
      throw new EmbeddedPostgresError(
        `${path} must be a folder that belongs to root and that nobody else may write`,
      );
    }
    // The umask may have removed these rights.
    fs.chmodSync(path, 0o755);
  }
  return folder;
}
