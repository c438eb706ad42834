import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { type Account, blockedAt, cannotActAs, isOwnAndClosed, isRoot } from './account';
import { type DataFolder, FILES } from './data-folder';
import { codeOf, EmbeddedPostgresError } from './errors';
import { lastingFolders, safeSubfolder } from './shared-folder';

/** Where the data are: `cluster` is PostgreSQL's data directory, `base` the folder around it. */
export interface Placement {
  base: string;
  cluster: string;
}

/** Where the data are or will be; creates nothing. Undefined where that has not been decided yet. */
export function findPlacement(folder: DataFolder): Placement | undefined {
  const base = folder.read(FILES.location);
  if (base === undefined) {
    const cluster = folder.file(FILES.data);
    return fs.existsSync(cluster) ? { base: folder.path, cluster } : undefined;
  }
  if (!fs.existsSync(base)) {
    throw new EmbeddedPostgresError(
      `the data of ${folder.path} are kept in ${base}, which is gone; ` +
        `restore it, or remove ${folder.file(FILES.location)} to begin with an empty database`,
    );
  }
  // In the folder of an ordinary user, that user may write the file and name any folder to root.
  if (isRoot() && !isOwnAndClosed(base)) {
    throw new EmbeddedPostgresError(
      `${folder.file(FILES.location)} names ${base}, which is not a folder of root alone; correct or remove the file`,
    );
  }
  return { base, cluster: join(base, FILES.data) };
}

/**
 * Where the data are or shall be. They are kept in the folder itself, unless the server runs under an account
 * which cannot reach it: then in a folder of root's, and the file `location` says where.
 *
 * @throws EmbeddedPostgresError when the account cannot reach them and no other place can be made
 */
export function decidePlacement(
  folder: DataFolder,
  account: Account | undefined,
  shared: string | undefined,
  log: (line: string) => void,
): Placement {
  const found = findPlacement(folder);
  if (account && (!found || found.base === folder.path)) openFor(folder.path, account);
  const base = found?.base ?? folder.path;
  const blocked = account && blockedAt(base, account);
  if (!account || !blocked) return { base, cluster: join(base, FILES.data) };
  if (found) {
    throw new EmbeddedPostgresError(
      `the server runs as uid ${account.uid}, which may not enter ${blocked} and so not reach ${found.cluster}; ` +
        `allow it with chmod o+x ${blocked} or move the data`,
    );
  }
  const elsewhere = makeBase(account, shared, blocked);
  folder.write(FILES.location, elsewhere);
  log(`uid ${account.uid} may not enter ${blocked}, so the data of ${folder.path} are kept in ${elsewhere}`);
  return { base: elsewhere, cluster: join(elsewhere, FILES.data) };
}

/** Lets the account enter the folder, not list it, if root owns it and nothing but the library's files is in it. */
function openFor(path: string, account: Account): void {
  const stats = fs.statSync(path);
  if (stats.uid !== 0 || (stats.mode & 0o001) !== 0 || blockedAt(dirname(path), account)) return;
  const known = new Set<string>(Object.values(FILES));
  const isOurs = (name: string): boolean => known.has(name.split('.')[0] ?? '') || known.has(name);
  if (!fs.readdirSync(path).every((name) => isOurs(name) || name.startsWith('init-'))) return;
  openToGroup(path, account);
}

function openToGroup(path: string, account: Account): void {
  try {
    fs.chownSync(path, 0, account.gid);
  } catch (error) {
    throw cannotActAs(account, codeOf(error));
  }
  fs.chmodSync(path, 0o710);
}

function makeBase(account: Account, shared: string | undefined, blocked: string): string {
  for (const candidate of lastingFolders(shared)) {
    const parent = safeSubfolder(candidate, 'data', account);
    if (!parent || !isOwnAndClosed(parent)) continue;
    const base = join(parent, randomUUID());
    fs.mkdirSync(base, { mode: 0o700 });
    openToGroup(base, account);
    return base;
  }
  throw new EmbeddedPostgresError(
    `the server runs as uid ${account.uid}, which may not enter ${blocked}, and none of ` +
      `${lastingFolders(shared).join(', ')} can take the data; choose a data directory which every user can reach`,
  );
}
