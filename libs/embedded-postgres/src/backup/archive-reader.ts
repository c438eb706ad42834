import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Entry, extract } from 'tar-stream';
import { codeOf, messageOf } from '../errors';
import { type BackedUpFile, DamagedBackupError, MANIFEST } from './manifest';

/**
 * `PASSWORD`, and the content of `BESIDE` and `CLUSTER`. Every path of a cluster matches, and no path outside the
 * folder.
 */
const SAFE_PATH = /^(password|beside\/(?!\.\.?$)[\w.-]+|data(\/(?!\.\.?(\/|$))[\w.-]+)*\/?)$/;

export interface ArchiveContent {
  manifest: string;
  files: Map<string, BackedUpFile>;
}

/**
 * Unpacks an archive into a folder and measures the files.
 *
 * @throws DamagedBackupError if it is not a complete archive; errors of the file system or the source
 */
export async function unpack(source: AsyncIterable<Buffer>, target: string): Promise<ArchiveContent> {
  const archive = extract();
  const fed = pipeline(source, createGunzip(), archive);
  let fault: unknown;
  // Awaited after the loop, which may only see that its stream was destroyed.
  fed.catch((error: unknown) => (fault = error));
  const files = new Map<string, BackedUpFile>();
  let manifest: string | undefined;
  try {
    for await (const entry of archive) {
      if (manifest !== undefined) {
        throw new DamagedBackupError('the backup is damaged: it has data after its end');
      }
      if (entry.header.name === MANIFEST) {
        manifest = await textOf(entry);
      } else {
        await unpackEntry(entry, target, files);
      }
    }
    await fed;
  } catch (error) {
    const cause = isDamage(fault) ? fault : error;
    throw isDamage(cause)
      ? new DamagedBackupError(`this is not a backup, or only a part of one: ${messageOf(cause)}`)
      : error;
  }
  if (manifest === undefined) {
    throw new DamagedBackupError('the backup is not complete: its manifest is missing');
  }
  return { manifest, files };
}

async function unpackEntry(entry: Entry, target: string, files: Map<string, BackedUpFile>): Promise<void> {
  const { name, type } = entry.header;
  if (!SAFE_PATH.test(name) || (type !== 'file' && type !== 'directory')) {
    throw new DamagedBackupError(
      `this is not a backup: ${JSON.stringify(name.slice(0, 100))} does not belong in one`,
    );
  }
  const path = join(target, name);
  if (type === 'directory') {
    await mkdir(path, { recursive: true, mode: 0o700 });
    entry.resume();
    return;
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  files.set(name, { path: name, ...(await unpackFile(entry, path)) });
}

async function unpackFile(entry: Entry, path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  const handle = await open(path, 'wx', 0o600);
  let bytes = 0;
  try {
    for await (const chunk of entry as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      await handle.writeFile(chunk);
    }
  } finally {
    await handle.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function textOf(entry: Entry): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** zlib and the archive reader throw plain errors, without a system error code. */
function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return (
    error instanceof Error && error.constructor === Error && (code === undefined || code.startsWith('Z_'))
  );
}
