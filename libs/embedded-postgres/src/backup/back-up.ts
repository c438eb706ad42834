import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asEmbeddedPostgresError } from '../errors';
import { ArchiveWriter, type Write } from './archive-writer';
import { BackupMode } from './backup-mode';
import { clusterEntries, CONTROL_FILE, readClusterFile, readControlFile } from './cluster-files';
import { BESIDE, CLUSTER, MANIFEST, type Manifest, manifestOf, PASSWORD } from './manifest';

export interface BackupOptions {
  /** The running server's URL, from `startEmbeddedPostgres`. */
  url: string;
  /** The program and its version, for the manifest. */
  madeBy: string;
  write: Write;
  /** The application's own files in the folder, as texts by name. They are part of the data. */
  beside?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** Called with the bytes read and the expected total, as far as known. */
  onProgress?: (done: number, total: number) => void;
}

/**
 * Writes a backup of a running server: a gzipped tar archive of its cluster, with the WAL that makes it consistent, its
 * password and a manifest. Sessions continue undisturbed. The archive contains everything committed before the call,
 * and restores to a single moment during the call.
 *
 * @throws EmbeddedPostgresError, or the error of `write` or the signal; nothing is left on the server then
 */
export async function backUp(options: BackupOptions): Promise<Manifest> {
  const { url, signal } = options;
  signal?.throwIfAborted();
  let outputFailure: Error | undefined;
  const write = (chunk: Buffer): Promise<void> =>
    options.write(chunk).catch((error: unknown) => {
      outputFailure = error as Error;
      throw error;
    });
  try {
    const mode = await BackupMode.open(url);
    const archive = new ArchiveWriter(write, signal);
    try {
      return await writeArchive(mode, archive, options);
    } finally {
      await archive.abandon();
      await mode.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw outputFailure ?? asEmbeddedPostgresError(error, 'back up the database');
  }
}

async function writeArchive(
  mode: BackupMode,
  archive: ArchiveWriter,
  options: BackupOptions,
): Promise<Manifest> {
  const { url, madeBy, beside = {} } = options;
  const { cluster, version: postgres } = mode;
  const startedAt = new Date().toISOString();
  await mode.begin();
  await copyCluster(cluster, archive, options);
  const { label, logFiles } = await mode.end();
  for (const name of logFiles) await add(archive, cluster, `pg_wal/${name}`);
  await archive.addText(`${CLUSTER}/backup_label`, label);
  await archive.addText(PASSWORD, decodeURIComponent(new URL(url).password));
  for (const [name, text] of Object.entries(beside)) await archive.addText(`${BESIDE}/${name}`, text);
  const finishedAt = new Date().toISOString();
  const manifest = manifestOf({ madeBy, startedAt, finishedAt, postgres, files: [...archive.files] });
  await archive.addText(MANIFEST, JSON.stringify(manifest));
  await archive.end();
  return manifest;
}

async function copyCluster(
  cluster: string,
  archive: ArchiveWriter,
  { onProgress }: BackupOptions,
): Promise<void> {
  const total = await sizeOf(cluster);
  let done = 0;
  await archive.addFolder(CLUSTER);
  for await (const { path, isFolder } of clusterEntries(cluster)) {
    if (isFolder) {
      await archive.addFolder(`${CLUSTER}/${path}`);
    } else {
      done += await add(archive, cluster, path);
      onProgress?.(Math.min(done, total), total);
    }
  }
  const control = await readControlFile(cluster);
  await archive.addFile(`${CLUSTER}/${CONTROL_FILE}`, control.length, [control]);
}

function add(archive: ArchiveWriter, cluster: string, path: string): Promise<number> {
  return readClusterFile(join(cluster, path), (bytes, chunks) =>
    archive.addFile(`${CLUSTER}/${path}`, bytes, chunks),
  );
}

async function sizeOf(cluster: string): Promise<number> {
  let bytes = 0;
  for await (const { path, isFolder } of clusterEntries(cluster)) {
    if (!isFolder) bytes += (await stat(join(cluster, path)).catch(() => ({ size: 0 }))).size;
  }
  return bytes;
}
