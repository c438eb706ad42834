import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Account, blockedAt, isOwnAndClosed } from './account';

/** Where root keeps what must outlive a reboot, in order of preference. */
const LASTING = ['/var/lib', '/opt', '/srv'];

/** Folders of root's which the account can reach and which survive a reboot; the first usable one counts. */
export function lastingFolders(chosen: string | undefined): string[] {
  return chosen ? [chosen] : LASTING.map((parent) => join(parent, 'embedded-postgres'));
}

/** The same, and after them such as may be emptied at a reboot. Good for what can be made again. */
export function passingFolders(chosen: string | undefined): string[] {
  if (chosen) return [chosen];
  const parents = [...new Set([tmpdir(), '/tmp', '/var/tmp'])];
  return [...lastingFolders(undefined), ...parents.map((parent) => join(parent, 'embedded-postgres-0'))];
}

/**
 * Makes `<shared>/<name>` for the account to enter and for root alone to write.
 *
 * Everything below is trusted later (binaries are run from it), so a folder which somebody else could have
 * put there or could exchange is not used.
 *
 * @returns the folder, undefined where none can be had below `shared`
 */
export function safeSubfolder(shared: string, name: string, account: Account): string | undefined {
  const folder = join(shared, name);
  try {
    for (const path of [shared, folder]) {
      if (!makeOpen(path)) return undefined;
    }
    if (!isSafeParent(dirname(shared)) || blockedAt(folder, account)) return undefined;
    return folder;
  } catch {
    return undefined;
  }
}

function makeOpen(path: string): boolean {
  try {
    mkdirSync(path);
    // The umask may have closed it to everybody else.
    chmodSync(path, 0o755);
  } catch {
    // It is there already, or it cannot be made and the next line throws.
  }
  return lstatSync(path).isDirectory() && isOwnAndClosed(path);
}

/** In a folder which others may write, only the sticky bit keeps them from exchanging what root made. */
function isSafeParent(path: string): boolean {
  const { mode, uid } = statSync(path);
  return uid === 0 && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0);
}
