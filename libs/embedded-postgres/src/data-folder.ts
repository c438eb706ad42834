import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { giveTo, isRoot, ROOT } from './account';
import { codeOf, EmbeddedPostgresError } from './errors';

/** Names of the library's files in its folder. */
export const FILES = {
  /** The cluster: PostgreSQL's data directory, with the socket of the server. */
  data: 'data',
  password: 'password',
  log: 'server.log',
  /** A copy of the binaries, if those of the package cannot be used in place. */
  runtime: 'runtime',
} as const;

/** In the name of the socket; several servers may use it, since none listens on the network. */
export const PORT = 5432;
/** The longest path of a Unix socket, in bytes (struct sockaddr_un). */
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;
/** More than any file read here has. */
const MAX_BYTES = 4_096;
/** Above this size, in bytes, the next start rotates the log to server.log.1. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
const STAGING = 'init-';
const { O_APPEND, O_CREAT, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;

/**
 * The folder that the application has chosen, and the files in it. None of them may be a symbolic link: whoever planted
 * it would decide what is read and written.
 */
export class DataFolder {
  /** The folder by the handle of this process: however long its path is, and whoever renames a folder above it. */
  private readonly pinned: string;

  private constructor(
    /** For messages and people. */
    readonly path: string,
    private readonly handle: number,
  ) {
    const isTooLong = Buffer.byteLength(join(path, FILES.data, `.s.PGSQL.${PORT}`)) > MAX_SOCKET_PATH;
    if (process.platform === 'linux') {
      this.pinned = isRoot() || isTooLong ? `/proc/${process.pid}/fd/${handle}` : path;
    } else if (isTooLong) {
      throw new EmbeddedPostgresError(`the path ${path} is too long for a Unix socket; choose a shorter one`);
    } else {
      this.pinned = path;
    }
  }

  /**
   * @throws EmbeddedPostgresError if root would work in a folder of somebody else, or if an entry is a symbolic link;
   * file system errors, for example if it does not exist
   */
  static open(path: string): DataFolder {
    const real = fs.realpathSync(path);
    const handle = fs.openSync(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      if (isRoot()) {
        for (const stats of [fs.lstatSync(path), fs.fstatSync(handle)]) assertOwnedByRoot(path, stats);
      }
      const folder = new DataFolder(real, handle);
      folder.assertNoLinks();
      return folder;
    } catch (error) {
      fs.closeSync(handle);
      throw error;
    }
  }

  /** Creates the folder (mode 0700) if it is missing, and opens it. */
  static create(path: string): DataFolder {
    if (!fs.existsSync(path)) {
      fs.mkdirSync(join(path, '..'), { recursive: true });
      // Another process may have been faster.
      fs.mkdirSync(path, { recursive: true, mode: 0o700 });
    }
    return DataFolder.open(path);
  }

  close(): void {
    fs.closeSync(this.handle);
  }

  /** Identifies the folder. */
  get stats(): fs.Stats {
    return fs.fstatSync(this.handle);
  }

  /** The path by which this process, and those that it starts, reach an entry. */
  file(name: string): string {
    return join(this.pinned, name);
  }

  /** The path of an entry for people. */
  shown(name: string): string {
    return join(this.path, name);
  }

  get cluster(): string {
    return this.file(FILES.data);
  }

  /** Whether there is a cluster, or the beginning of one. */
  holdsData(): boolean {
    return fs.existsSync(this.cluster) && fs.readdirSync(this.cluster).length > 0;
  }

  /** The text of a file of this user; undefined if it is missing. */
  read(name: string): string | undefined {
    return readPlainFile(this.file(name), process.geteuid!());
  }

  /** The text of a file of mode 0600, which is created if it is missing, once and in one piece. */
  secret(name: string, make: () => string): string {
    const found = this.read(name);
    if (found !== undefined) return found;
    const temporary = this.file(`${name}.${randomBytes(6).toString('hex')}.tmp`);
    fs.writeFileSync(temporary, `${make()}\n`, { flag: 'wx', mode: 0o600, flush: true });
    try {
      fs.linkSync(temporary, this.file(name));
    } catch (error) {
      // Another process was faster.
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      fs.unlinkSync(temporary);
    }
    this.sync();
    return this.read(name) ?? '';
  }

  /** Opens the log to append to it; a large one is rotated first. */
  openLog(): number {
    const path = this.file(FILES.log);
    const size = fs.lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > MAX_LOG_BYTES) fs.renameSync(path, `${path}.1`);
    return fs.openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  }

  /** A private folder for an initdb. */
  makeStaging(): string {
    return fs.mkdtempSync(this.file(STAGING));
  }

  /** Removes what an interrupted initdb has left. */
  removeStaging(): void {
    const names = fs.readdirSync(this.file('.')).filter((name) => name.startsWith(STAGING));
    for (const name of names) remove(this.file(name));
  }

  /** Makes a rename in this folder survive a power failure. */
  sync(): void {
    fs.fsyncSync(this.handle);
  }

  private assertNoLinks(): void {
    const link = fs.readdirSync(this.file('.'), { withFileTypes: true }).find((one) => one.isSymbolicLink());
    if (!link) return;
    throw new EmbeddedPostgresError(
      `${this.shown(link.name)} is a symbolic link; put what it points to there, or set the whole folder elsewhere`,
    );
  }
}

function assertOwnedByRoot(path: string, { uid, gid, mode }: fs.Stats): void {
  const kind = mode & fs.constants.S_IFMT;
  if (uid !== 0) {
    throw new EmbeddedPostgresError(
      `${path} belongs to uid ${uid}, and root does not work in a folder of somebody else: run this as that user, ` +
        `for example with setpriv --reuid=${uid} --regid=${gid} --clear-groups, or choose another folder`,
    );
  }
  if (kind === fs.constants.S_IFDIR && (mode & 0o022) !== 0) {
    throw new EmbeddedPostgresError(
      `others may write to ${path}, which is not safe for root: chmod go-w it, or choose another folder`,
    );
  }
}

/**
 * The beginning of a regular file as text; undefined if it is missing. A symbolic link is not followed, and a pipe not
 * waited for.
 *
 * @param owner who must own it
 * @throws EmbeddedPostgresError if it is something else or belongs to somebody else
 */
export function readPlainFile(path: string, owner?: number): string | undefined {
  let file: number;
  try {
    file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const stats = fs.fstatSync(file);
    if (!stats.isFile() || (owner !== undefined && stats.uid !== owner)) {
      throw new EmbeddedPostgresError(`${path} must be a file that belongs to this user; replace it`);
    }
    const buffer = Buffer.alloc(MAX_BYTES);
    return buffer.toString('utf8', 0, fs.readSync(file, buffer)).trim();
  } finally {
    fs.closeSync(file);
  }
}

export function remove(path: string): void {
  try {
    // Then nobody can exchange a folder in it for a link while it is removed.
    if (isRoot() && fs.existsSync(path)) giveTo(ROOT, path);
    fs.rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
  } catch {
    // An initdb whose parent was killed may still be writing here; the next start removes the rest.
  }
}
