import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** An unfinished cluster, a replaced one, or a file before its rename. */
const UNFINISHED = /^init-[0-9a-f]{12}$|\.[0-9a-f]{12}\.tmp$/;

/** A temporary name; a rename later makes the file part of the data. */
export function unfinishedName(): string {
  return `init-${randomBytes(6).toString('hex')}`;
}

/** Removes the remains of interrupted work. Use it only under the lock. */
export function removeUnfinished(place: string): void {
  for (const name of readdirSync(place).filter((name) => UNFINISHED.test(name))) {
    remove(join(place, name));
  }
}

export function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
  } catch {
    // An initdb whose parent was killed may still be writing here; the next start removes the rest.
  }
}
