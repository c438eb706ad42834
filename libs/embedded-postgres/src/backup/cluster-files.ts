import { type FileHandle, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../errors';

const CHUNK = 256 * 1024;
/** Read last, and in one piece. */
export const CONTROL_FILE = 'global/pg_control';

/** Folders whose content a server recreates. Source: PostgreSQL's manual, "Backing Up the Data Directory". */
const CONTENT_LEFT_OUT = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|global\/pg_control)$|(^|\/)(pgsql_tmp[^/]*|pg_internal\.init[^/]*)$/;

/** A file or folder of the cluster, by its relative path. */
export interface ClusterEntry {
  path: string;
  isFolder: boolean;
}

/** The files and folders of a backup, except the WAL; folders before their content. */
export async function* clusterEntries(cluster: string, folder = ''): AsyncGenerator<ClusterEntry> {
  for (const entry of await readFolder(join(cluster, folder))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (LEFT_OUT.test(path)) continue;
    // The WAL may have been moved to another disk.
    const isFolder = entry.isDirectory() || path === 'pg_wal';
    if (isFolder || entry.isFile()) yield { path, isFolder };
    if (isFolder && !CONTENT_LEFT_OUT.has(path)) yield* clusterEntries(cluster, path);
  }
}

/** Tables may be dropped during the backup. */
async function readFolder(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Passes on a file in its current length. If it is truncated meanwhile, the rest is zeros, which the WAL repairs.
 *
 * @returns its size; 0 if it no longer exists
 */
export async function readClusterFile(
  path: string,
  take: (bytes: number, chunks: AsyncIterable<Buffer>) => Promise<void>,
): Promise<number> {
  let handle: FileHandle;
  try {
    handle = await open(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
  try {
    const { size } = await handle.stat();
    await take(size, readExactly(handle, size));
    return size;
  } finally {
    await handle.close();
  }
}

async function* readExactly(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let left = size; left > 0; ) {
    const buffer = Buffer.alloc(Math.min(CHUNK, left));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
    const chunk = bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead);
    left -= chunk.length;
    yield chunk;
  }
}

/** The control file is overwritten in place, and its checksum must match: it is read until two reads agree. */
export async function readControlFile(cluster: string): Promise<Buffer> {
  for (let last: Buffer | undefined; ; ) {
    const now = await readFile(join(cluster, CONTROL_FILE));
    if (last?.equals(now)) return now;
    last = now;
  }
}
