import * as fs from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findPackage } from '../binaries';
import { DataFolder, FILES, syncFolder, SHARED_DIRECTORY } from '../data-folder';
import { asEmbeddedPostgresError, EmbeddedPostgresError } from '../errors';
import { withFolder } from '../holding';
import { stopPostmaster } from '../postmaster';
import { countHolders } from '../sharing';
import { remove, removeUnfinished, unfinishedName } from '../unfinished';
import { unpack } from './archive-reader';
import { checkFiles, type Manifest, readManifest } from './manifest';
import { putRestoredInPlace } from './put-in-place';

export interface RestoreOptions {
  /** As for `startEmbeddedPostgres`. */
  dataDirectory: string;
  sharedDirectory?: string;
  /** The bytes of the backup. */
  source: AsyncIterable<Buffer>;
  log?: (line: string) => void;
}

/**
 * Replaces the cluster of a folder with a backup. The backup is unpacked next to it, checked and written to the disk
 * before anything changes. One rename then decides: a process killed before it leaves everything unchanged, and the
 * next start finishes the work of one killed later.
 *
 * @throws EmbeddedPostgresError if the server is in use, or the backup is damaged or made for another PostgreSQL;
 * errors of the source. Nothing has changed then
 */
export async function restoreBackup(options: RestoreOptions): Promise<Manifest> {
  const path = resolve(options.dataDirectory);
  const wasThere = fs.existsSync(path);
  const log = options.log ?? (() => undefined);
  let sourceFailure: Error | undefined;
  const source = (async function* () {
    try {
      yield* options.source;
    } catch (error) {
      sourceFailure = error as Error;
      throw error;
    }
  })();
  try {
    const folder = DataFolder.open(path);
    return await withFolder(folder, log, () => restoreInto(folder, { ...options, source, log }));
  } catch (error) {
    if (!wasThere) remove(path);
    throw sourceFailure ?? asEmbeddedPostgresError(error, `restore into ${path}`);
  }
}

async function restoreInto(
  folder: DataFolder,
  {
    source,
    sharedDirectory = SHARED_DIRECTORY,
    log,
  }: Required<Pick<RestoreOptions, 'source' | 'log'>> & RestoreOptions,
): Promise<Manifest> {
  const { version } = findPackage();
  if (countHolders(folder.file(FILES.holders)) > 0) {
    throw new EmbeddedPostgresError(`another process uses the database in ${folder.path}; stop it first`);
  }
  const { base, cluster } = folder.placement(resolve(sharedDirectory), log);
  // A killed process can leave a running server without a holder.
  await stopPostmaster(cluster);
  removeUnfinished(base);
  putRestoredInPlace(folder, base);
  const staging = join(base, unfinishedName());
  fs.mkdirSync(staging, { mode: 0o700 });
  try {
    const { manifest: text, files } = await unpack(source, staging);
    const manifest = readManifest(text, version);
    checkFiles(manifest, files);
    await syncTree(staging);
    fs.renameSync(staging, join(base, FILES.restored));
    syncFolder(base);
    putRestoredInPlace(folder, base);
    return manifest;
  } finally {
    remove(staging);
  }
}

/** Makes everything in a folder survive a power failure. */
async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      await syncTree(path);
    } else {
      const handle = await open(path, 'r+');
      await handle.sync().finally(() => handle.close());
    }
  }
  syncFolder(folder);
}
