import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A user and group by number. */
export interface Account {
  uid: number;
  gid: number;
}

/** The account of the servers that root starts: PostgreSQL and initdb refuse root, and initdb any that is not listed. */
const NAME = 'embedded-postgres';
/** It is listed everywhere, but each of its processes can reach what it owns. */
export const NOBODY: Account = { uid: 65_534, gid: 65_534 };

/** Of the packages shadow and busybox. */
const CREATE = [
  ['useradd', '--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME],
  ['adduser', '-S', '-D', '-H', '-s', '/sbin/nologin', NAME],
] as const;

let account: Account | undefined;

/** For root: the account, created if it is missing; `nobody` where that is not possible. */
export function serverAccount(): Account {
  account ??= findOrCreate();
  return account;
}

function findOrCreate(): Account {
  for (const [program, ...args] of CREATE) {
    if (listed() === undefined) {
      try {
        execFileSync(program, args, { stdio: 'ignore' });
      } catch {
        // The program is missing, the system is read-only, or another process is creating it.
      }
    }
  }
  return listed() ?? NOBODY;
}

function listed(): Account | undefined {
  const lines = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const [, , uid, gid] = lines.find(([name]) => name === NAME) ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}
