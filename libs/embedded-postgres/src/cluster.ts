import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { type Account, cannotActAs, giveTo, idleAccount, isPrivate, isRoot, privateAccount } from './account';
import { type DataFolder, FILES, readPlainFile, remove } from './data-folder';
import { codeOf, EmbeddedPostgresError } from './errors';
import { programOf, reasonIn, runProgram } from './binaries';

/** The role that owns everything in the cluster. */
export const USER = 'postgres';

export interface ClusterOptions {
  folder: DataFolder;
  /** The account of the server; undefined for that of this process. */
  account: Account | undefined;
  /** The version of PostgreSQL, e.g. '18.4.0'. */
  version: string;
  /** Prepares the binaries and returns their folder. */
  binaries: () => Promise<string>;
  /** False omits fsync, for a server that runs without it anyway. */
  sync: boolean;
  log: (line: string) => void;
}

/** The account of the server: that of the data, otherwise a new one; undefined for that of this process. */
export function accountFor(folder: DataFolder): Account | undefined {
  if (!isRoot()) return undefined;
  if (process.platform !== 'linux') {
    throw new EmbeddedPostgresError('PostgreSQL does not run as root; run as an ordinary user');
  }
  const owner = fs.lstatSync(folder.cluster, { throwIfNoEntry: false });
  return owner && isPrivate(owner) ? { uid: owner.uid, gid: owner.gid } : privateAccount(folder.stats);
}

/**
 * Finds the cluster or creates it.
 *
 * @returns its password
 * @throws EmbeddedPostgresError if it cannot be created, or exists but is unusable
 */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { folder, account, version } = options;
  const major = version.split('.')[0]!;
  if (!isMade(folder, major)) {
    // Written first, so that a cluster always has one, and several processes that create it at once have the same.
    const password = folder.secret(FILES.password, () => randomBytes(24).toString('base64url'));
    if (await makeCluster(options, password)) {
      options.log(`created a PostgreSQL ${major} database in ${folder.shown(FILES.data)}`);
    }
    return password;
  }
  const { uid, mode } = fs.lstatSync(folder.cluster);
  if (account && uid !== account.uid) giveTo(account, folder.cluster);
  if ((mode & 0o777) !== 0o700) fs.chmodSync(folder.cluster, 0o700);
  folder.removeStaging();
  const password = folder.read(FILES.password);
  if (password) return password;
  throw new EmbeddedPostgresError(
    `the password of the database in ${folder.shown(FILES.data)} is missing: ${folder.shown(FILES.password)}; put it back`,
  );
}

/** Whether the cluster exists and belongs to this major version of PostgreSQL. */
function isMade(folder: DataFolder, major: string): boolean {
  const { cluster } = folder;
  const shown = folder.shown(FILES.data);
  if (!folder.holdsData()) return false;
  const made = readPlainFile(join(cluster, 'PG_VERSION'));
  if (made === major) return true;
  throw new EmbeddedPostgresError(
    made === undefined
      ? `${shown} holds no PostgreSQL database; move it away or choose another folder`
      : `${shown} was made by PostgreSQL ${made} and cannot be used by PostgreSQL ${major}; ` +
        'dump it with the old version and load it into a new folder',
  );
}

/**
 * Creates a cluster: UTF8, C.UTF-8 of PostgreSQL's builtin provider (the same order on every system), SCRAM for every
 * connection, data checksums. It gets its name by a rename once it is complete and on disk, so an interrupted initdb
 * leaves only a folder to remove.
 *
 * @returns false if another process was faster
 */
async function makeCluster(options: ClusterOptions, password: string): Promise<boolean> {
  const { folder, account } = options;
  const initdb = programOf(await options.binaries(), 'initdb');
  const staging = folder.makeStaging();
  const data = join(staging, 'data');
  try {
    fs.mkdirSync(data, { mode: 0o700 });
    // argv is visible to everyone.
    fs.writeFileSync(join(staging, 'password'), `${password}\n`, { flag: 'wx', mode: 0o600 });
    const maker = account && idleAccount();
    if (maker) giveTo(maker, staging);
    const end = await runProgram(
      initdb,
      initdbArguments(maker ? '/proc/self/cwd' : data, options.sync),
      maker,
      data,
    );
    if (maker && end.code === 'EPERM') throw cannotActAs(maker, end.code);
    if (!end.succeeded) {
      throw new EmbeddedPostgresError(
        `cannot create a database in ${folder.path}: initdb failed: ${reasonIn(end.output)}`,
      );
    }
    if (account) giveTo(account, data);
    fs.renameSync(data, folder.cluster);
    folder.sync();
    return true;
  } catch (error) {
    if (
      ['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '') ||
      isMade(folder, options.version.split('.')[0]!)
    ) {
      return false;
    }
    throw error;
  } finally {
    remove(staging);
  }
}

function initdbArguments(data: string, sync: boolean): string[] {
  return [
    ...['-D', data, '-U', USER, `--pwfile=${data}/../password`, '--auth=scram-sha-256'],
    ...['-E', 'UTF8', '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ...(sync ? [] : ['--no-sync']),
    '--no-instructions',
  ];
}
