import { type DataFolder, FILES } from './data-folder';
import { withLock } from './process-lock';

/** How long to wait for another process which starts or stops the same server, in milliseconds. */
const PATIENCE = 120_000;

/** Does the work while no other process starts or stops the server of this folder. */
export function withFolder<T>(
  folder: DataFolder,
  log: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const onWait = (): void =>
    log(`waiting for another process which starts or stops PostgreSQL in ${folder.path}`);
  return withLock(folder.file(FILES.lock), PATIENCE, onWait, work);
}
