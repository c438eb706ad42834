import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { type FoundData, findData, reasonUnavailable, startEmbeddedPostgres } from '#libs/embedded-postgres';
import { StartError } from '#libs/messages';
import { PETSTORE } from '../program';
import type { Settings } from '../settings/settings';

const EMBEDDED_NAME = 'petstore';

/** An open database. `lost` resolves with an error if an embedded server has ended and cannot be restarted. */
export type OpenDatabase = Awaited<ReturnType<typeof openDatabase>>;

export function findEmbedded({ dataDirectory }: Pick<Settings, 'dataDirectory'>): FoundData | undefined {
  return findData(dataDirectory, EMBEDDED_NAME);
}

export function missingDatabase({ dataDirectory }: Pick<Settings, 'dataDirectory'>): string {
  return `There is no database in ${resolve(dataDirectory)} (DATA_DIR). The service creates one: ${PETSTORE} serve. Or set DATA_DIR or DATABASE_URL to an existing one.`;
}

/**
 * Opens the database of `DATABASE_URL`, or else the embedded database in `DATA_DIR`.
 * @param options.mayCreate true for the service, which creates the embedded database if it is missing; false for a command,
 * which may connect to the PostgreSQL server that a running service has started
 * @param options.signal aborts the wait for a database that is recovering from a crash
 */
export async function openDatabase(
  settings: Pick<Settings, 'databaseUrl' | 'dataDirectory'>,
  { log, mayCreate, signal }: { log: (line: string) => void; mayCreate: boolean; signal?: AbortSignal },
) {
  const { databaseUrl } = settings;
  const url = databaseUrl ?? (cluster.isWorker ? findEmbedded(settings)?.url : undefined);
  if (url !== undefined) {
    const isEmbedded = databaseUrl === undefined;
    return { url, isEmbedded, lost: new Promise<never>(() => undefined), stop: () => Promise.resolve() };
  }
  const reason = reasonUnavailable();
  if (reason !== undefined) {
    throw new StartError(
      `DATABASE_URL is not set, and the embedded PostgreSQL ${reason}. ` +
        'Set DATABASE_URL to a database of your own: postgres://user:password@host:5432/name.',
    );
  }
  if (!mayCreate && findEmbedded(settings) === undefined) {
    throw new StartError(missingDatabase(settings));
  }
  const postgres = await startEmbeddedPostgres({
    dataDirectory: resolve(settings.dataDirectory),
    database: EMBEDDED_NAME,
    log,
    share: !mayCreate,
    signal,
  });
  return { ...postgres, isEmbedded: true };
}
