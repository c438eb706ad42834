import { execFile, execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Account,
  EmbeddedPostgresError,
  errorCodeOf,
  messageOf,
  programFor,
  programOptions,
  reasonIn,
  withRemedy,
} from './binaries';

export const USER = 'postgres';
/** In the name of the socket; several servers may use it, since none listens on the network. */
export const PORT = 5432;
/** The longest path of a Unix socket, in bytes (struct sockaddr_un). */
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;
/** The working directory of a program: its account may not enter the folders above, but needs no path to this one. */
export const WORKING_DIRECTORY = '/proc/self/cwd';
const STAGING = 'init-';
/** The account of the servers that root starts: PostgreSQL refuses root, and initdb any account that is not listed. */
const ACCOUNT = 'embedded-postgres';
/** It is listed everywhere, but each of its processes can reach what it owns. */
export const NOBODY: Account = { uid: 65_534, gid: 65_534 };

export type DataFolder = ReturnType<typeof openFolder>;

/** @param shared where root keeps copies of the binaries */
export function openFolder(given: string, shared = '/var/lib/embedded-postgres') {
  const path = fs.realpathSync(given);
  // Fails for a file: below one, Node 24 finds nothing where earlier versions fail.
  fs.opendirSync(path).closeSync();
  // PostgreSQL's data directory, with the socket of the server.
  const cluster = join(path, 'data');
  if (Buffer.byteLength(join(cluster, `.s.PGSQL.${PORT}`)) > MAX_SOCKET_PATH) {
    throw new EmbeddedPostgresError(`the path ${path} is too long for a Unix socket; choose a shorter one`);
  }
  const isRoot = process.geteuid!() === 0;
  const { uid, mode } = fs.statSync(path);
  if (isRoot && (uid !== 0 || (mode & 0o022) !== 0)) {
    throw new EmbeddedPostgresError(
      `${path} belongs to uid ${uid}, or others may write to it, and root works only in a folder of its own: ` +
        'run this as that user, change the folder (chown root, chmod 700), or choose another one',
    );
  }
  // Undefined for that of this process. Root has it from the data, or for new ones.
  const account = () => (isRoot ? (ownerOf(cluster) ?? serverAccount()) : undefined);
  const runtime = join(isRoot ? shared : path, 'runtime');
  return { path, cluster, log: join(path, 'server.log'), runtime, account };
}

/** The account, created if it is missing; `nobody` where that is not possible, for example in a read-only system. */
function serverAccount(): Account {
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

/** Undefined if there is none, or root, who has restored it by hand. */
function ownerOf(cluster: string): Account | undefined {
  const owner = fs.statSync(cluster, { throwIfNoEntry: false });
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : undefined;
}

export function holdsData({ cluster }: DataFolder): boolean {
  return fs.existsSync(cluster) && fs.readdirSync(cluster).length > 0;
}

/** Finds the cluster or creates it. @param sync false omits fsync, for a server that runs without it anyway */
export async function ensureCluster(folder: DataFolder, sync: boolean): Promise<void> {
  const { path, cluster } = folder;
  if (!holdsData(folder)) {
    await makeCluster(folder, sync);
    return;
  }
  const account = folder.account();
  if (account && fs.statSync(cluster).uid === 0) changeOwner(account, cluster);
  for (const name of fs.readdirSync(path).filter((entry) => entry.startsWith(STAGING))) {
    fs.rmSync(join(path, name), { recursive: true, force: true });
  }
}

/** Also a cluster that root has restored by hand, which gets the only mode that the server accepts. */
function changeOwner({ uid, gid }: Account, folder: string): void {
  try {
    execFileSync('chown', ['-hR', `${uid}:${gid}`, folder], { stdio: 'pipe' });
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
 * Creates a cluster: UTF8, C.UTF-8 of PostgreSQL's builtin provider (the same order on every system), data checksums.
 * Whoever can enter it may connect to its server, and nobody else. It gets its name by a rename once it is complete and on
 * disk, so an interrupted initdb leaves only a folder to remove.
 */
async function makeCluster(folder: DataFolder, sync: boolean): Promise<void> {
  const { path, cluster, runtime } = folder;
  const account = folder.account();
  const initdb = programFor('initdb', account, runtime);
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
    // Another process was faster.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errorCodeOf(error))) throw error;
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
  }
}
