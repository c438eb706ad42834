import { randomBytes, randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import * as accounts from './account';
import { codeOf, EmbeddedPostgresError } from './errors';

/** Names of the library's files in its folder. */
export const FILES = {
  /** The cluster, unless `location` names another place. */
  data: 'data',
  /** The path of the data if they cannot be kept here. */
  location: 'location',
  password: 'password',
  port: 'port',
  log: 'server.log',
  lock: 'lock',
  holders: 'holders',
  /** A copy of the binaries, if those of the package cannot be used in place. */
  runtime: 'runtime',
} as const;

/** Where root keeps what another account has to reach, unless told otherwise. */
export const SHARED_DIRECTORY = '/var/lib/embedded-postgres';

/** Where the data are: `cluster` is PostgreSQL's data directory, in the folder `base`. */
export interface Placement {
  base: string;
  cluster: string;
  /** The account of the server; undefined for that of this process. */
  account: accounts.Account | undefined;
}

/** The folder that the application has chosen, and the files in it. */
export class DataFolder {
  /** Files that root creates in the folder of an ordinary user must stay usable for that user. */
  private readonly owner: accounts.Account | undefined;

  private constructor(
    readonly path: string,
    /** It was empty or already used by this library, so nothing else is in it. */
    private readonly isOurs: boolean,
  ) {
    this.owner = accounts.isRoot() ? accounts.ownerOf(path) : undefined;
    // These two mark the folder as ours.
    for (const name of [FILES.holders, FILES.lock]) {
      fs.mkdirSync(this.file(name), { recursive: true, mode: 0o700 });
      if (this.owner && !accounts.ownerOf(this.file(name))) this.giveToOwner(this.file(name));
    }
  }

  /**
   * Creates the folder (mode 0700) if it is missing.
   *
   * @throws file system errors, for example if it is a file or cannot be created or written
   */
  static open(path: string): DataFolder {
    fs.mkdirSync(dirname(path), { recursive: true });
    if (!fs.existsSync(path)) fs.mkdirSync(path, { recursive: true, mode: 0o700 });
    const names = fs.readdirSync(path);
    return new DataFolder(fs.realpathSync(path), names.length === 0 || names.includes(FILES.holders));
  }

  /** False once the folder was removed. */
  exists(): boolean {
    return fs.existsSync(this.file(FILES.holders));
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** The text of a file; undefined if it is missing. */
  read(name: string): string | undefined {
    try {
      return fs.readFileSync(this.file(name), 'utf8').trim();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Writes a file of mode 0600 atomically, even if the power fails. */
  write(name: string, text: string): void {
    const temporary = this.file(`${name}.${randomBytes(6).toString('hex')}.tmp`);
    fs.writeFileSync(temporary, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    if (this.owner) this.giveToOwner(temporary);
    fs.renameSync(temporary, this.file(name));
    syncFolder(this.path);
  }

  /** Opens a file of mode 0600 for appending. Symlinks are not followed: a user could redirect root. */
  openToAppend(name: string): number {
    const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = fs.constants;
    const descriptor = fs.openSync(this.file(name), O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
    if (this.owner) fs.fchownSync(descriptor, this.owner.uid, this.owner.gid);
    return descriptor;
  }

  /**
   * Where the data are or will be, and which account runs the server: the owner of the data, otherwise the owner of
   * this folder, otherwise nobody. The data are kept here, unless the server's account cannot reach this folder: then
   * they are in a folder of root, whose path is in the file `location`.
   *
   * @param shared root's folder
   * @throws EmbeddedPostgresError if the account cannot reach the data
   */
  placement(shared: string, log: (line: string) => void): Placement {
    const base = this.base();
    const cluster = join(base, FILES.data);
    if (!accounts.isRoot()) return { base, cluster, account: undefined };
    const isThere = fs.existsSync(cluster);
    const account = (isThere ? accounts.ownerOf(cluster) : undefined) ?? this.owner ?? accounts.NOBODY;
    const blocked = accounts.blockedAt(base, account);
    if (!blocked) return { base, cluster, account };
    if (blocked === this.path && this.isOurs && !this.owner) {
      accounts.letIn(this.path, account);
      return { base, cluster, account };
    }
    if (isThere || base !== this.path) {
      throw new EmbeddedPostgresError(
        `the server runs as uid ${account.uid}, which may not enter ${blocked} and so not reach ${cluster}; ` +
          `allow it with chmod o+x ${blocked} or move the data`,
      );
    }
    const elsewhere = this.relocate(shared, account);
    log(`uid ${account.uid} may not enter ${blocked}, so the data of ${this.path} are kept in ${elsewhere}`);
    return { base: elsewhere, cluster: join(elsewhere, FILES.data), account };
  }

  private base(): string {
    const base = this.read(FILES.location);
    if (base === undefined) return this.path;
    if (!fs.existsSync(base)) {
      throw new EmbeddedPostgresError(
        `the data of ${this.path} are kept in ${base}, which is gone; ` +
          `restore it, or remove ${this.file(FILES.location)} to begin with an empty database`,
      );
    }
    // In the folder of an ordinary user, that user may write this file and send root to any folder.
    if (accounts.isRoot()) accounts.checkOwnAndClosed(base);
    return base;
  }

  private relocate(shared: string, account: accounts.Account): string {
    const base = join(accounts.sharedFolder(shared, 'data'), randomUUID());
    fs.mkdirSync(base, { mode: 0o700 });
    accounts.letIn(base, account);
    this.write(FILES.location, base);
    return base;
  }

  private giveToOwner(path: string): void {
    fs.lchownSync(path, this.owner!.uid, this.owner!.gid);
  }
}

/** Makes a rename in this folder survive a power failure. */
export function syncFolder(path: string): void {
  const descriptor = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}
