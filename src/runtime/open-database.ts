import { resolve } from 'node:path';
import { type FoundData, findData, isPackageInstalled, startEmbeddedPostgres } from '#libs/embedded-postgres';
import type { Settings } from '../settings';
import { PETSTORE } from './messages';
import { StartError } from './failures';

/** The name of the database on the embedded server. */
const DATABASE = 'petstore';

/** The database that this process uses. */
export interface OpenDatabase {
  url: string;
  /** True for the embedded database in the data directory, false for an external server. */
  embedded: boolean;
  /** Resolves with the reason if an embedded database has died and cannot be started again. */
  lost: Promise<Error>;
  /** Stops an embedded database that this process has started. */
  close(): Promise<void>;
}

/** Finds the embedded database in `DATA_DIR` without changing anything; undefined if there is none. */
export function findEmbedded({ dataDirectory }: Pick<Settings, 'dataDirectory'>): FoundData | undefined {
  return findData(dataDirectory, DATABASE);
}

/**
 * Opens the database of `DATABASE_URL`, or the embedded one in `DATA_DIR`, starting it if necessary.
 * @param signal ends the wait for a database that recovers
 * @param forServer creates the embedded one if there is none, and has it for itself; a command may share that of a server
 */
export async function openDatabase(
  settings: Pick<Settings, 'databaseUrl' | 'dataDirectory'>,
  log: (line: string) => void,
  forServer = false,
  signal?: AbortSignal,
): Promise<OpenDatabase> {
  const { databaseUrl } = settings;
  if (databaseUrl !== undefined) {
    return {
      url: databaseUrl,
      embedded: false,
      lost: new Promise(() => undefined),
      close: () => Promise.resolve(),
    };
  }
  if (!isPackageInstalled()) {
    throw new StartError(
      'DATABASE_URL is not set, and the embedded PostgreSQL is not installed here. ' +
        'Set DATABASE_URL to a database of your own: postgres://user:password@host:5432/name.',
    );
  }
  if (!forServer && findEmbedded(settings) === undefined) {
    throw new StartError(
      `There is no database in ${settings.dataDirectory} (DATA_DIR). The service creates one: ${PETSTORE} serve. ` +
        'Or set DATA_DIR or DATABASE_URL to an existing one.',
    );
  }
  const postgres = await startEmbeddedPostgres({
    dataDirectory: resolve(settings.dataDirectory),
    database: DATABASE,
    log,
    share: !forServer,
    signal,
  });
  const { url, lost } = postgres;
  return { url, embedded: true, lost, close: () => postgres.stop() };
}
