import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Account } from './account';
import { programOf } from './binaries';
import { type DataFolder, FILES, type Placement, syncFolder } from './data-folder';
import { EmbeddedPostgresError } from './errors';
import { reasonIn, runProgram } from './program';
import { remove, removeUnfinished, unfinishedName } from './unfinished';

/** The role that owns everything in the cluster. */
export const USER = 'postgres';

export interface ClusterOptions {
  folder: DataFolder;
  placement: Placement;
  /** The version of PostgreSQL, e.g. '18.4.0'. */
  version: string;
  /** Prepares the binaries and returns their folder. */
  binaries: () => Promise<string>;
  /** False omits fsync, for a server that runs without it anyway. */
  sync: boolean;
  log: (line: string) => void;
}

/**
 * Finds the cluster or creates it. Use it only under the lock.
 *
 * @returns its password
 * @throws EmbeddedPostgresError if it cannot be created, or exists but is unusable
 */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { folder, placement, version } = options;
  const { base, cluster, account } = placement;
  for (const place of new Set([folder.path, base])) removeUnfinished(place);
  const major = version.split('.')[0]!;
  if (isMade(cluster, major)) {
    repairAccess(cluster, account);
    const password = folder.read(FILES.password);
    if (password) return password;
    throw new EmbeddedPostgresError(
      `the password of the database in ${cluster} is missing: ${folder.file(FILES.password)}; put it back`,
    );
  }
  const password = folder.read(FILES.password) || randomBytes(24).toString('base64url');
  // Written before the cluster is created, so that a cluster always has one.
  folder.write(FILES.password, password);
  await makeCluster(options, password);
  options.log(`created a PostgreSQL ${major} database in ${cluster}`);
  return password;
}

/** Whether the cluster exists and belongs to this major version of PostgreSQL. */
function isMade(cluster: string, major: string): boolean {
  if (!fs.existsSync(cluster) || fs.readdirSync(cluster).length === 0) return false;
  const file = join(cluster, 'PG_VERSION');
  if (!fs.existsSync(file)) {
    throw new EmbeddedPostgresError(
      `${cluster} holds no PostgreSQL database; move it away or choose another folder`,
    );
  }
  const made = fs.readFileSync(file, 'utf8').trim();
  if (made === major) return true;
  throw new EmbeddedPostgresError(
    `${cluster} was made by PostgreSQL ${made} and cannot be used by PostgreSQL ${major}; ` +
      'dump it with the old version and load it into a new folder',
  );
}

/** A cluster restored by root may belong to root and be open to others: PostgreSQL rejects both. */
function repairAccess(cluster: string, account: Account | undefined): void {
  const { uid, mode } = fs.lstatSync(cluster);
  if (account && uid === 0) {
    // The folder itself comes last, so that an interrupted run is repeated.
    const names = fs.readdirSync(cluster, { recursive: true }) as string[];
    for (const name of [...names, '.']) fs.lchownSync(join(cluster, name), account.uid, account.gid);
  }
  if (![0o700, 0o750].includes(mode & 0o777)) fs.chmodSync(cluster, 0o700);
}

/**
 * Creates a cluster: UTF8, C.UTF-8 of PostgreSQL's builtin provider (the same order on every system), SCRAM for every
 * connection, data checksums. It gets its name by a rename once it is complete and on disk, so an interrupted initdb
 * leaves only a folder to remove.
 */
async function makeCluster({ placement, binaries, sync }: ClusterOptions, password: string): Promise<void> {
  const { base, cluster, account } = placement;
  const initdb = programOf(await binaries(), 'initdb');
  const staging = join(base, unfinishedName());
  fs.mkdirSync(staging, { mode: 0o700 });
  try {
    // The server's account may not read root's password file, and argv is visible to everyone.
    const passwordFile = join(staging, 'password');
    fs.writeFileSync(passwordFile, `${password}\n`, { flag: 'wx', mode: 0o600 });
    if (account) {
      for (const path of [passwordFile, staging]) fs.lchownSync(path, account.uid, account.gid);
    }
    const args = [
      '-D',
      join(staging, 'data'),
      '-U',
      USER,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
    ];
    args.push('-E', 'UTF8', '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8');
    if (!sync) args.push('--no-sync');
    const end = await runProgram(initdb, [...args, '--no-instructions'], account);
    if (end.status !== 0) {
      throw new EmbeddedPostgresError(
        `cannot create a database in ${base}: initdb failed: ${reasonIn(end.output)}`,
      );
    }
    fs.renameSync(join(staging, 'data'), cluster);
    syncFolder(base);
  } finally {
    remove(staging);
  }
}
