import * as fs from 'node:fs';
import { join } from 'node:path';
import { type DataFolder, FILES, syncFolder } from '../data-folder';
import { remove, unfinishedName } from '../unfinished';
import { BESIDE, CLUSTER, PASSWORD } from './manifest';

/**
 * Moves a restored and checked cluster to its final place. The restore begins it, and the next user of the folder
 * finishes it if it was interrupted. Every step can be repeated. Use it only under the lock.
 *
 * @param base the folder of the cluster
 */
export function putRestoredInPlace(folder: DataFolder, base: string): void {
  const restored = join(base, FILES.restored);
  if (!fs.existsSync(restored)) return;
  const [from, to] = [join(restored, CLUSTER), join(base, FILES.data)];
  if (fs.existsSync(from)) {
    const replaced = join(base, unfinishedName());
    if (fs.existsSync(to)) fs.renameSync(to, replaced);
    folder.write(FILES.password, fs.readFileSync(join(restored, PASSWORD), 'utf8'));
    for (const name of besideOf(restored)) {
      folder.write(name, fs.readFileSync(join(restored, BESIDE, name), 'utf8').trimEnd());
    }
    fs.renameSync(from, to);
    syncFolder(base);
    remove(replaced);
  }
  remove(restored);
}

function besideOf(restored: string): string[] {
  const folder = join(restored, BESIDE);
  return fs.existsSync(folder) ? fs.readdirSync(folder) : [];
}
