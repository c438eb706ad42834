import { type FileHandle, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../errors';

const CHUNK = 256 * 1024;
/** Read last, and as a whole. */
export const CONTROL_FILE = 'global/pg_control';

/** Folders whose content a server makes anew. Source: PostgreSQL's manual, "Backing Up the Data Directory". */
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

/** A file or folder of the cluster, by its path from there. */
export interface ClusterEntry {
  path: string;
  isFolder: boolean;
}

/** What of a cluster belongs into a backup, the log excepted; folders before what is in them. */
export async function* clusterEntries(cluster: string, folder = ''): AsyncGenerator<ClusterEntry> {
  for (const entry of await readFolder(join(cluster, folder))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (LEFT_OUT.test(path)) continue;
    // The log may have been moved to a disk of its own.
    const isFolder = entry.isDirectory() || path === 'pg_wal';
    if (isFolder || entry.isFile()) yield { path, isFolder };
    if (isFolder && !CONTENT_LEFT_OUT.has(path)) yield* clusterEntries(cluster, path);
  }
}

/** Tables are dropped while the backup goes on. */
async function readFolder(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Reads a file as long as it is now, and as long it is given on: what is cut off meanwhile is zeros, which the log repairs.
 *
 * @returns its size; 0 where it is gone
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

/** The control file is written over in place, and its checksum has to fit: it is read until two readings agree. */
export async function readControlFile(cluster: string): Promise<Buffer> {
  for (let last: Buffer | undefined; ; ) {
    const now = await readFile(join(cluster, CONTROL_FILE));
    if (last?.equals(now)) return now;
    last = now;
  }
}
