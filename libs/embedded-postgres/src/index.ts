import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ensureCluster, holdsData, NOBODY, openFolder, PORT, USER } from './cluster';
import { toEmbeddedPostgresError, errorCodeOf, type EmbeddedPostgresError } from './binaries';
import { ServerInUseError, ownServer } from './server';

export { EmbeddedPostgresError, unavailability } from './binaries';

interface EmbeddedPostgresOptions {
  /** The folder for everything, e.g. '/x/.petstore'; absolute or relative to the working directory. */
  dataDirectory: string;
  /** The name of the database, at most 63 bytes; created if missing. */
  database: string;
  /** More server settings, e.g. { fsync: 'off' }. They apply only to a server that this call starts. */
  parameters?: Record<string, string>;
  /**
   * For a command beside the application: it may use the application's server, and one that it has started itself ends
   * when other commands have left it, too. Default: false.
   */
  share?: boolean;
  log?: (line: string) => void;
  /** Ends the wait for a server that recovers; the start then fails with its reason. */
  signal?: AbortSignal;
  /** Only as root: a folder for a copy of the binaries that the server can reach. Default: /var/lib/embedded-postgres. */
  sharedDirectory?: string;
}

export interface EmbeddedPostgres {
  /** `postgres://user@<folder of the Unix socket, percent-encoded>:5432/database` */
  url: string;
  /** Resolves if the server of this process has died and cannot be started again. */
  lost: Promise<EmbeddedPostgresError>;
  /** Stops the server if it is that of this process. Further calls do nothing. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL 18 on a Unix socket with its data in a folder. This process owns the server until it stops it. One that a
 * killed process has left is taken over.
 * @throws EmbeddedPostgresError with one line that says what failed, where and why
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database, parameters = {}, share, log = () => undefined, signal } = options;
  const path = resolve(options.dataDirectory);
  let url = '';
  try {
    makeFolder(path, 0o700);
    const folder = openFolder(path, options.sharedDirectory);
    await ensureCluster(folder, parameters.fsync !== 'off');
    url = urlOf(folder.cluster, database);
    if (folder.account()?.uid === NOBODY.uid) {
      log(`warning: PostgreSQL in ${path} runs as nobody, and other processes of nobody can reach its data`);
    }
    const server = await ownServer({ folder, database, parameters, log, signal });
    const lost = server.lost.then((error) => toEmbeddedPostgresError(error, `restart PostgreSQL in ${path}`));
    return { url, lost, stop: () => server.stop(share ? ['SIGTERM'] : ['SIGINT', 'SIGQUIT']) };
  } catch (error) {
    if (share && error instanceof ServerInUseError) {
      return { url, lost: new Promise(() => undefined), stop: () => Promise.resolve() };
    }
    throw toEmbeddedPostgresError(error, `start PostgreSQL in ${path}`);
  }
}

/** Node's own recursion never ends below /proc, and finds nothing (ENOENT) where the file system is read-only. */
function makeFolder(path: string, mode?: number): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error;
  }
}

function urlOf(cluster: string, database: string): string {
  return `postgres://${USER}@${encodeURIComponent(cluster)}:${PORT}/${encodeURIComponent(database)}`;
}

/** Where the data of a folder are, and how their server is reached while it runs. */
export interface FoundData {
  cluster: string;
  url: string;
  psql: string;
}

/** Examines a folder of `startEmbeddedPostgres`; undefined if it has no data. Creates and starts nothing. */
export function findData(dataDirectory: string, database: string): FoundData | undefined {
  const path = resolve(dataDirectory);
  try {
    const folder = openFolder(path);
    if (!holdsData(folder)) return undefined;
    const { cluster } = folder;
    const psql = `psql -h '${cluster}' -U ${USER} ${database}`;
    return { cluster, url: urlOf(cluster, database), psql };
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw toEmbeddedPostgresError(error, `look into ${path}`);
  }
}
