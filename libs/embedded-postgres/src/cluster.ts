import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { type Account, accountFor } from './account';
import { type DataFolder, FILES } from './data-folder';
import { EmbeddedPostgresError } from './errors';
import { initialize, removeLeftovers } from './initialize';
import type { CheckedOptions } from './options';
import { type BinaryPackage, programsOf } from './package';
import { decidePlacement, findPlacement } from './placement';

/** A cluster which is there, and what is needed to run it. */
export interface Cluster {
  path: string;
  account: Account | undefined;
  password: string;
}

/**
 * Finds the cluster of the folder or makes it. To be used under the lock only.
 *
 * @param native gives the folder of the binaries which the account can run
 * @throws EmbeddedPostgresError when it cannot be made, or is there but not usable
 */
export async function ensureCluster(
  folder: DataFolder,
  source: BinaryPackage,
  options: CheckedOptions,
  native: (account: Account | undefined) => Promise<string>,
): Promise<Cluster> {
  const account = accountOf(folder);
  const placement = decidePlacement(folder, account, options.sharedDirectory, options.log);
  const path = placement.cluster;
  for (const place of new Set([folder.path, placement.base])) removeLeftovers(place);
  if (isMade(path, source)) {
    const password = folder.read(FILES.password);
    if (password) return { path, account, password };
    throw new EmbeddedPostgresError(
      `the password of the database in ${path} is missing: ${folder.file(FILES.password)}; put it back`,
    );
  }
  const password = folder.read(FILES.password) || makePassword(folder);
  const { initdb } = programsOf(await native(account));
  const sync = !/^(off|false|no|0)$/i.test(options.parameters.fsync ?? '');
  await initialize({ placement, initdb, account, password, sync });
  options.log(`created a PostgreSQL ${source.major} database in ${path}`);
  return { path, account, password };
}

/** It is written before the cluster is made, so that no cluster is ever without it. */
function makePassword(folder: DataFolder): string {
  const password = randomBytes(24).toString('base64url');
  folder.write(FILES.password, password);
  return password;
}

/** As whom the server runs: the owner of the data, since PostgreSQL accepts nobody else. */
function accountOf(folder: DataFolder): Account | undefined {
  const account = accountFor(folder.path);
  const cluster = findPlacement(folder)?.cluster;
  if (!account || !cluster || !fs.existsSync(cluster)) return account;
  const owner = fs.lstatSync(cluster);
  if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  // A backup which root restored; as root's it could not be used at all.
  if (fs.existsSync(join(cluster, 'PG_VERSION'))) giveTo(cluster, account);
  return account;
}

function giveTo(path: string, account: Account): void {
  for (const name of fs.lstatSync(path).isDirectory() ? fs.readdirSync(path) : [])
    giveTo(join(path, name), account);
  // The folder itself comes last, so that an interrupted run is repeated.
  fs.lchownSync(path, account.uid, account.gid);
}

/** Whether the cluster has been made, by this major version of PostgreSQL. */
function isMade(path: string, source: BinaryPackage): boolean {
  let made: string;
  try {
    made = fs.readFileSync(join(path, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (absent && (!fs.existsSync(path) || fs.readdirSync(path).length === 0)) return false;
    if (!absent) throw error;
    throw new EmbeddedPostgresError(
      `${path} holds no PostgreSQL database; move it away or choose another folder`,
    );
  }
  if (made !== source.major) {
    throw new EmbeddedPostgresError(
      `${path} was made by PostgreSQL ${made} and cannot be used by PostgreSQL ${source.major}; ` +
        'dump it with the old version and load it into a new folder',
    );
  }
  if (process.platform !== 'win32') closeToOthers(path);
  return true;
}

/** PostgreSQL refuses data which others may read or write, as a restored backup can be. */
function closeToOthers(path: string): void {
  const mode = fs.statSync(path).mode & 0o777;
  if (mode !== 0o700 && mode !== 0o750) fs.chmodSync(path, 0o700);
}
