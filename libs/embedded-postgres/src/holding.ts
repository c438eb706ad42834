import { rmSync } from 'node:fs';
import { type DataFolder, FILES } from './data-folder';
import { asEmbeddedPostgresError, EmbeddedPostgresError, messageOf } from './errors';
import { postmasterIdentity, stopLost, stopPostmaster } from './postmaster';
import { isAlive, type ProcessIdentity } from './processes';
import { addHolder, countHolders, withLock } from './sharing';

/** How often a supervised server is checked, in milliseconds. */
const LOOK_EVERY = 500;
/** The longest pause between attempts to restart it, in milliseconds; the pause doubles up to this. */
const LONGEST_PAUSE = 30_000;

/** Does the work while no other process starts or stops the server of this folder. */
export function withFolder<T>(
  folder: DataFolder,
  log: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const onWait = (): void =>
    log(`waiting for another process that starts or stops PostgreSQL in ${folder.path}`);
  return withLock(folder.file(FILES.lock), onWait, work);
}

export interface Held {
  folder: DataFolder;
  cluster: string;
  log: (line: string) => void;
  /** Restarts the server; used only under the lock. Undefined if this holder leaves that to others. */
  restart: (() => Promise<unknown>) | undefined;
}

/** A process that uses the server. Create it under the lock. */
export class Holding {
  private readonly holders: string;
  private readonly file: string;
  private postmaster: ProcessIdentity | undefined;
  private stopping: Promise<void> | undefined;
  private failures = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly held: Held) {
    this.holders = held.folder.file(FILES.holders);
    this.file = addHolder(this.holders);
    this.postmaster = postmasterIdentity(held.cluster);
    this.lookAgain();
  }

  /** Stops using the server, once; the last holder stops it. */
  stop(): Promise<void> {
    this.stopping ??= this.leave().catch((error: unknown) => {
      throw asEmbeddedPostgresError(error, `stop PostgreSQL in ${this.held.folder.path}`);
    });
    return this.stopping;
  }

  private async leave(): Promise<void> {
    const { folder, cluster, log } = this.held;
    clearTimeout(this.timer);
    if (!folder.exists()) return stopLost(this.postmaster);
    await withFolder(folder, log, async () => {
      rmSync(this.file, { force: true });
      if (countHolders(this.holders) > 0) return;
      await stopPostmaster(cluster);
      log(`PostgreSQL in ${cluster} stopped`);
    });
  }

  /** Does not keep the process alive. */
  private lookAgain(): void {
    const { restart } = this.held;
    if (!restart || this.stopping) return;
    const pause = Math.min(LOOK_EVERY * 2 ** this.failures, LONGEST_PAUSE);
    this.timer = setTimeout(() => void this.look(restart), pause).unref();
  }

  /** Reports failed attempts and repeats them after increasing pauses, until one succeeds. */
  private async look(restart: () => Promise<unknown>): Promise<void> {
    try {
      if (!this.runs()) await this.bringBack(restart);
      this.failures = 0;
    } catch (error) {
      this.failures += 1;
      this.held.log(`PostgreSQL died and is not back: ${messageOf(error)}`);
    }
    this.lookAgain();
  }

  /** Checks only the pid: without /proc, checking its start would run a program twice a second. */
  private runs(): boolean {
    return this.postmaster !== undefined && isAlive(Number.parseInt(this.postmaster, 10));
  }

  private async bringBack(restart: () => Promise<unknown>): Promise<void> {
    const { folder, cluster, log } = this.held;
    if (!folder.exists()) throw new EmbeddedPostgresError(`the folder ${folder.path} is gone; put it back`);
    await withFolder(folder, log, async () => {
      // stop() may have been called while this waited for the lock.
      if (this.stopping) return;
      await restart();
      this.postmaster = postmasterIdentity(cluster);
      log(`PostgreSQL in ${cluster} had died and is running again`);
    });
  }
}
