import { type DataFolder, FILES } from './data-folder';
import { asEmbeddedPostgresError, EmbeddedPostgresError } from './errors';
import { withFolder } from './folder-lock';
import { Holders } from './holders';
import type { BinaryPackage } from './package';
import { postmasterIdentity, stopLost, stopPostmaster } from './postmaster';
import { isAlive, type ProcessIdentity } from './process-identity';
import { watchLog } from './server-log';
import { supervise } from './supervisor';

export interface Held {
  folder: DataFolder;
  cluster: string;
  source: BinaryPackage;
  log: (line: string) => void;
  /** Starts the server again; used under the lock only. Undefined: this holder leaves that to others. */
  restart: (() => Promise<unknown>) | undefined;
}

/** A process which uses the server. It is made under the lock. */
export class Holding {
  private readonly holders: Holders;
  private readonly name: string;
  private readonly endings: (() => void)[];
  private postmaster: ProcessIdentity | undefined;
  private stopping: Promise<void> | undefined;

  constructor(private readonly held: Held) {
    const { folder, cluster, restart, log } = held;
    this.holders = new Holders(folder.file(FILES.holders));
    this.name = this.holders.join();
    this.postmaster = postmasterIdentity(cluster);
    this.endings = [watchLog(folder)];
    if (restart) {
      const bringBack = (): Promise<void> => this.bringBack(restart);
      this.endings.push(supervise({ runs: () => this.runs(), restart: bringBack, log }));
    }
  }

  /** Stops using the server, once; the last holder stops it. */
  stop(): Promise<void> {
    this.stopping ??= this.leave().catch((error: unknown) => {
      throw asEmbeddedPostgresError(error, `stop PostgreSQL in ${this.held.folder.path}`);
    });
    return this.stopping;
  }

  private async leave(): Promise<void> {
    const { folder, cluster, source, log } = this.held;
    for (const end of this.endings) end();
    if (!folder.exists()) return stopLost(this.postmaster);
    await withFolder(folder, log, async () => {
      this.holders.leave(this.name);
      if (this.holders.count() > 0) return;
      await stopPostmaster(cluster, source.native);
      log(`PostgreSQL in ${cluster} stopped`);
    });
  }

  /** The pid alone is asked for: to learn its start would run a program twice a second where there is no /proc. */
  private runs(): boolean {
    return this.postmaster !== undefined && isAlive(Number.parseInt(this.postmaster, 10));
  }

  private async bringBack(restart: () => Promise<unknown>): Promise<void> {
    const { folder, cluster, log } = this.held;
    if (!folder.exists()) throw new EmbeddedPostgresError(`the folder ${folder.path} is gone; put it back`);
    await withFolder(folder, log, async () => {
      // While this waited for the lock, stop() may have been called.
      if (this.stopping) return;
      await restart();
      this.postmaster = postmasterIdentity(cluster);
      log(`PostgreSQL in ${cluster} had died and runs again`);
    });
  }
}
