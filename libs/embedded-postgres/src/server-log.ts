import * as fs from 'node:fs';
import { type DataFolder, FILES } from './data-folder';

/** Above this size, in bytes, the log is begun anew and the old one kept once as server.log.1. */
const LIMIT = 8 * 1024 * 1024;
const CHECK_EVERY = 60_000;

/** Moves a large log away. Only while no server writes it. */
export function rotateLog(folder: DataFolder): void {
  const path = folder.file(FILES.log);
  if (sizeOf(path) > LIMIT) fs.renameSync(path, `${path}.1`);
}

/**
 * Looks at the log every minute while a holder lives, so that a long run cannot fill the disk. The server has
 * it open for appending, which goes on at the beginning after it was emptied. Does not keep the process alive.
 *
 * @returns what ends it
 */
export function watchLog(folder: DataFolder): () => void {
  const timer = setInterval(() => emptyLargeLog(folder), CHECK_EVERY);
  timer.unref();
  return () => clearInterval(timer);
}

function emptyLargeLog(folder: DataFolder): void {
  const path = folder.file(FILES.log);
  if (sizeOf(path) <= LIMIT) return;
  let descriptor: number | undefined;
  try {
    descriptor = folder.openToAppend(FILES.log);
    keepOld(path);
    fs.ftruncateSync(descriptor);
  } catch {
    // The next look may have more luck; a log must not end the application.
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

function keepOld(path: string): void {
  try {
    fs.rmSync(`${path}.1`, { force: true });
    fs.copyFileSync(path, `${path}.1`, fs.constants.COPYFILE_EXCL);
  } catch {
    // On a full disk, emptying matters more than the copy.
  }
}

/** The current end of the log, in bytes. */
export function logSize(folder: DataFolder): number {
  return sizeOf(folder.file(FILES.log));
}

/** What was logged since the log had this size, at most the last 64 KiB. */
export function logSince(folder: DataFolder, start: number): string {
  const descriptor = fs.openSync(folder.file(FILES.log), 'r');
  try {
    const from = Math.max(start, fs.fstatSync(descriptor).size - 65_536);
    const buffer = Buffer.alloc(65_536);
    return buffer.toString('utf8', 0, fs.readSync(descriptor, buffer, 0, buffer.length, from));
  } finally {
    fs.closeSync(descriptor);
  }
}

function sizeOf(path: string): number {
  return fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
