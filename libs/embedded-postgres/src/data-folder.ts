import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { type Account, isRoot } from './account';
import { codeOf, EmbeddedPostgresError } from './errors';

/** Names of what the library keeps in its folder. */
export const FILES = {
  /** The cluster, unless `location` says that it is elsewhere. */
  data: 'data',
  /** Where the data are, when they could not be kept here. */
  location: 'location',
  password: 'password',
  port: 'port',
  log: 'server.log',
  lock: 'lock',
  holders: 'holders',
  /** A copy of the binaries, when those of the package cannot be used where they are. */
  runtime: 'runtime',
} as const;

/** The folder which the application named, and how files are put there. */
export class DataFolder {
  private readonly owner: Account | undefined;

  private constructor(readonly path: string) {
    const { uid, gid } = fs.statSync(path);
    // What root leaves in the folder of an ordinary user must stay usable for that user.
    this.owner = isRoot() && uid !== 0 ? { uid, gid } : undefined;
  }

  /**
   * Makes the folder (mode 0700) where it is absent.
   *
   * @throws EmbeddedPostgresError when it is a file, cannot be made or cannot be written
   */
  static open(path: string): DataFolder {
    makeFolder(path);
    if (!fs.statSync(path).isDirectory()) {
      throw new EmbeddedPostgresError(
        `${path} is a file and not a folder; move it away or choose another folder`,
      );
    }
    try {
      fs.accessSync(path, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    } catch (error) {
      const why = codeOf(error) === 'EROFS' ? 'on a read-only file system' : 'closed to this user';
      throw new EmbeddedPostgresError(
        `the folder ${path} is ${why}; change its permissions or choose another`,
      );
    }
    const folder = new DataFolder(fs.realpathSync(path));
    folder.subfolder(FILES.lock);
    folder.subfolder(FILES.holders);
    return folder;
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
    const descriptor = fs.openSync(temporary, 'wx', 0o600);
    try {
      fs.writeSync(descriptor, `${text}\n`);
      if (this.owner) fs.fchownSync(descriptor, this.owner.uid, this.owner.gid);
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
    fs.renameSync(temporary, this.file(name));
    syncFolder(this.path);
  }

  /** Opens a file of mode 0600 to append to. A link is not followed: a user could lead root elsewhere. */
  openToAppend(name: string): number {
    const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW = 0 } = fs.constants;
    const descriptor = fs.openSync(this.file(name), O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
    if (this.owner) fs.fchownSync(descriptor, this.owner.uid, this.owner.gid);
    return descriptor;
  }

  private subfolder(name: string): void {
    const path = this.file(name);
    fs.mkdirSync(path, { recursive: true, mode: 0o700 });
    if (this.owner && fs.lstatSync(path).uid === 0) fs.lchownSync(path, this.owner.uid, this.owner.gid);
  }
}

function makeFolder(path: string): void {
  try {
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !fs.existsSync(path)) throw error;
  }
}

/** Makes a rename in this folder last through a power failure. */
export function syncFolder(path: string): void {
  // Windows cannot open a folder for this and does not need it.
  if (process.platform === 'win32') return;
  const descriptor = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}
