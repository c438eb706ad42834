import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { isOwnAndClosed } from './account';
import { codeOf } from './errors';
import { type BinaryPackage, createLinks } from './package';
import { isRunning, ownProcess } from './process-identity';

/** What a server does not need: static libraries and what extensions are built with. */
const UNNEEDED = /\.a$|^(pgxs|pkgconfig|include|doc|man)$/;

interface Entry {
  path: string;
  kind: 'folder' | 'file' | 'link';
  size: number;
}

/**
 * A copy of the binaries as `<parent>/<name>`, which this user owns and nobody else can write. An existing
 * one is used if it still equals the package in names, sizes and owners. It appears by a rename, so several
 * processes may make it at once and an interrupted one leaves nothing half done under that name.
 *
 * @returns the folder with bin, lib and share
 */
export function copyRuntime(source: BinaryPackage, parent: string, name: string): string {
  const copy = join(parent, name);
  const entries = list(source.native, '');
  if (isComplete(copy, entries, source.links)) return copy;
  removeAbandoned(parent);
  const temporary = join(parent, `${name}.tmp.${ownProcess()}.${randomBytes(6).toString('hex')}`);
  try {
    write(source, entries, temporary);
    putInPlace(temporary, copy, () => isComplete(copy, entries, source.links));
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
  return copy;
}

function list(root: string, below: string): Entry[] {
  return fs.readdirSync(join(root, below)).flatMap((name): Entry[] => {
    if (UNNEEDED.test(name)) return [];
    const path = join(below, name);
    const stats = fs.lstatSync(join(root, path));
    if (stats.isDirectory()) return [{ path, kind: 'folder', size: 0 }, ...list(root, path)];
    return [{ path, kind: stats.isSymbolicLink() ? 'link' : 'file', size: stats.size }];
  });
}

/** Nothing in it may belong to or be writable by anybody else: its programs are run. */
function isComplete(copy: string, entries: Entry[], links: BinaryPackage['links']): boolean {
  try {
    if (!fs.lstatSync(copy).isDirectory() || !isOwnAndClosed(copy)) return false;
    if (!links.every(({ target }) => fs.existsSync(join(copy, target)))) return false;
    return entries.every((entry) => {
      const path = join(copy, entry.path);
      const stats = fs.lstatSync(path);
      const same =
        entry.kind === 'folder'
          ? stats.isDirectory()
          : entry.kind === 'link'
            ? stats.isSymbolicLink()
            : stats.isFile() && stats.size === entry.size;
      return same && isOwnAndClosed(path);
    });
  } catch {
    return false;
  }
}

function write(source: BinaryPackage, entries: Entry[], target: string): void {
  fs.mkdirSync(target, { mode: 0o700 });
  for (const { path, kind } of entries) {
    const [from, to] = [join(source.native, path), join(target, path)];
    if (kind === 'link') {
      fs.symlinkSync(fs.readlinkSync(from), to);
      continue;
    }
    if (kind === 'folder') fs.mkdirSync(to);
    else fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE);
    // Explicit modes, since neither the umask nor the package's own modes can be relied on.
    fs.chmodSync(to, kind === 'folder' || path.startsWith('bin') ? 0o755 : 0o644);
  }
  createLinks(target, source.links);
  fs.chmodSync(target, 0o755);
}

/** The first one wins. What stands there and is not complete was damaged and gives way. */
function putInPlace(temporary: string, copy: string, isGood: () => boolean): void {
  for (let attempt = 0; ; attempt++) {
    try {
      fs.renameSync(temporary, copy);
      return;
    } catch (error) {
      const occupied = ['EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EPERM'].includes(codeOf(error) ?? '');
      if (!occupied || attempt === 3) throw error;
      if (isGood()) return;
      const aside = `${temporary}.bad${attempt}`;
      fs.renameSync(copy, aside);
      fs.rmSync(aside, { recursive: true, force: true });
    }
  }
}

/** Removes what processes left which ended in the middle of copying. */
function removeAbandoned(parent: string): void {
  for (const name of fs.readdirSync(parent)) {
    const owner = /\.tmp\.(\d+\.[^.]+)\./.exec(name)?.[1];
    if (owner && !isRunning(owner)) fs.rmSync(join(parent, name), { recursive: true, force: true });
  }
}
