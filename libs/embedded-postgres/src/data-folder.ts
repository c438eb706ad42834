import { randomBytes, randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import * as accounts from './account';
import { codeOf, EmbeddedPostgresError } from './errors';

/** Names of what the library keeps in its folder. */
export const FILES = {
  /** The cluster, unless `location` says that it is elsewhere. */
  data: 'data',
  /** A cluster that was restored and checked, to be put in the place of `data`. */
  restored: 'restored',
  /** The path of the data if they could not be kept here. */
  location: 'location',
  password: 'password',
  port: 'port',
  log: 'server.log',
  lock: 'lock',
  holders: 'holders',
  /** A copy of the binaries, when those of the package cannot be used where they are. */
  runtime: 'runtime',
} as const;

/** Where the data are: `cluster` is PostgreSQL's data directory, in the folder `base`. */
export interface Placement {
  base: string;
  cluster: string;
  /** The account of the server; undefined: the one of this process. */
  account: accounts.Account | undefined;
}

/** The folder which the application named, and how files are put there. */
export class DataFolder {
  /** Files that root creates in the folder of an ordinary user must stay usable for that user. */
  private readonly owner: accounts.Account | undefined;

  private constructor(
    readonly path: string,
    /** It was empty or used for this before: nothing else is in it. */
    private readonly isOurs: boolean,
  ) {
    this.owner = accounts.isRoot() ? accounts.ownerOf(path) : undefined;
    // The first of them says that the folder is ours.
    for (const name of [FILES.holders, FILES.lock]) {
      fs.mkdirSync(this.file(name), { recursive: true, mode: 0o700 });
      if (this.owner && !accounts.ownerOf(this.file(name))) this.giveToOwner(this.file(name));
    }
  }

  /**
   * Makes the folder (mode 0700) where it is absent.
   *
   * @throws what the file system throws when it is a file, cannot be made or cannot be written
   */
  static open(path: string): DataFolder {
    fs.mkdirSync(dirname(path), { recursive: true });
    if (!fs.existsSync(path)) fs.mkdirSync(path, { recursive: true, mode: 0o700 });
    const names = fs.readdirSync(path);
    return new DataFolder(fs.realpathSync(path), names.length === 0 || names.includes(FILES.holders));
  }

  /** False once somebody removed the folder. */
  exists(): boolean {
    return fs.existsSync(this.file(FILES.holders));
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** The text of a file, undefined where it is absent. */
  read(name: string): string | undefined {
    try {
      return fs.readFileSync(this.file(name), 'utf8').trim();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Puts a file of mode 0600 there, as a whole or not at all, also when the power fails. */
  write(name: string, text: string): void {
    const temporary = this.file(`${name}.${randomBytes(6).toString('hex')}.tmp`);
    fs.writeFileSync(temporary, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    if (this.owner) this.giveToOwner(temporary);
    fs.renameSync(temporary, this.file(name));
    syncFolder(this.path);
  }

  /** Opens a file of mode 0600 to append to. A link is not followed: a user could lead root elsewhere. */
  openToAppend(name: string): number {
    const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = fs.constants;
    const descriptor = fs.openSync(this.file(name), O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
    if (this.owner) fs.fchownSync(descriptor, this.owner.uid, this.owner.gid);
    return descriptor;
  }

  /**
   * Where the data are or shall be, and who runs the server: who owns the data, else who owns this folder, else nobody.
   * The data are kept here, unless the server's account cannot reach this folder: then in a folder of root's, and the
   * file `location` says where.
   *
   * @param shared the folder of root's
   * @throws EmbeddedPostgresError when the account cannot reach the data
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
    // In the folder of an ordinary user, that user may write the file and name any folder to root.
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
