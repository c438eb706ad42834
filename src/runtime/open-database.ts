import { resolve } from 'node:path';
import { isPackageInstalled, startEmbeddedPostgres } from '#libs/embedded-postgres';
import type { Settings } from '../settings';
import { StartError } from './failures';

/** A database for as long as this process needs one. */
export interface OpenDatabase {
  url: string;
  /** It is ours, in the data directory, and not somebody's server. */
  embedded: boolean;
  /** Stops an embedded database when no other process uses it any more. */
  close(): Promise<void>;
}

/**
 * The database of `DATABASE_URL`, or the embedded one in `DATA_DIR`, which is started, or joined if it runs already.
 * @param supervise starts the embedded one again when it dies; for the server, which stays
 */
export async function openDatabase(
  settings: Pick<Settings, 'databaseUrl' | 'dataDirectory'>,
  log: (line: string) => void,
  supervise = false,
): Promise<OpenDatabase> {
  if (settings.databaseUrl !== undefined) {
    return { url: settings.databaseUrl, embedded: false, close: () => Promise.resolve() };
  }
  if (!isPackageInstalled()) {
    throw new StartError(
      'DATABASE_URL is not set, and the embedded PostgreSQL is not installed here. ' +
        'Set DATABASE_URL to a database of your own: postgres://user:password@host:5432/name.',
    );
  }
  const postgres = await startEmbeddedPostgres({
    dataDirectory: resolve(settings.dataDirectory),
    database: 'petstore',
    log,
    supervise,
  });
  return { url: postgres.url, embedded: true, close: () => postgres.stop() };
}
