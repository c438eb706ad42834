import { Logger } from '@nestjs/common';

/**
 * Logs the failure of work that no caller awaits, because an unhandled rejection would end the process.
 * @param name the start of the log message, such as `Sending metrics` in "Sending metrics failed"
 */
export function inBackground(name: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => new Logger('BackgroundTask').error(`${name} failed: ${String(error)}`));
}

interface RepeatingTaskOptions {
  /** The start of the log messages, for example `Deleting old events` in "Deleting old events failed". */
  name: string;
  work: () => unknown;
  /**
   * Milliseconds from the end of a run to the start of the next run, or a function that is called after each run and
   * returns these milliseconds. If the function returns null, no next run is scheduled.
   */
  everyMs: number | (() => number | null);
}

/** Repeats `work` in the background until `stop` is called. Runs never overlap. */
export class RepeatingTask {
  private readonly logger = new Logger('BackgroundTask');
  private timer?: NodeJS.Timeout;
  private running?: Promise<void>;
  private next?: Promise<void>;
  private isStopped = false;
  private isFailing = false;

  constructor(private readonly options: RepeatingTaskOptions) {}

  start(): this {
    this.schedule();
    return this;
  }

  wake(): void {
    inBackground(this.options.name, this.runNow());
  }

  /**
   * Runs `work` now or, if a run is in progress, once more after that run. Resolves at the end of the requested run,
   * even if that run failed.
   */
  async runNow(): Promise<void> {
    if (this.isStopped) {
      return;
    }
    if (this.running !== undefined) {
      this.next ??= this.running.then(() => this.runNow());
      return this.next;
    }
    clearTimeout(this.timer);
    this.running = this.attempt().then(() => {
      this.running = undefined;
      this.next = undefined;
      this.schedule();
    });
    return this.running;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async attempt(): Promise<void> {
    const { name, work } = this.options;
    try {
      await work();
      if (this.isFailing) {
        this.logger.log(`${name} works again.`);
      }
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing && !this.isStopped) {
        this.logger.warn({ msg: `${name} failed; will retry.`, err: error });
      }
      this.isFailing = true;
    }
  }

  private schedule(): void {
    clearTimeout(this.timer);
    const { everyMs } = this.options;
    const pauseMs = typeof everyMs === 'number' ? everyMs : everyMs();
    if (!this.isStopped && pauseMs !== null) {
      this.timer = setTimeout(() => this.wake(), pauseMs).unref();
    }
  }
}

interface WriteBehindOptions<Entry> {
  name: string;
  intervalMs: number;
  /**
   * Writes all entries of `batch`, or none of them. If `write` rejects, the same entries are passed to `write` again. If
   * the entries were written and only the database's reply was lost, then they are written twice.
   */
  write: (batch: Map<string, Entry>) => Promise<void>;
  merge: (earlier: Entry, later: Entry) => Entry;
}

/** Collects small changes by key and writes many changes at once, so that requests never wait for a write. */
export class WriteBehind<Entry> {
  private pending = new Map<string, Entry>();
  private readonly task: RepeatingTask;

  constructor(private readonly options: WriteBehindOptions<Entry>) {
    this.task = new RepeatingTask({
      name: options.name,
      work: () => this.write(),
      everyMs: () => (this.pending.size === 0 ? null : options.intervalMs),
    });
  }

  add(key: string, entry: Entry): void {
    const earlier = this.pending.get(key);
    this.pending.set(key, earlier === undefined ? entry : this.options.merge(earlier, entry));
    if (this.pending.size === 1 && earlier === undefined) {
      this.task.start();
    }
  }

  flushSoon(): void {
    this.task.wake();
  }

  /**
   * Writes all pending entries, after a write that is in progress. Resolves even if the write fails, and never rejects.
   */
  flush(): Promise<void> {
    return this.task.runNow();
  }

  async close(): Promise<void> {
    await this.flush();
    await this.task.stop();
  }

  private async write(): Promise<void> {
    const batch = this.pending;
    if (batch.size === 0) {
      return;
    }
    this.pending = new Map();
    try {
      await this.options.write(batch);
    } catch (error) {
      // Put the failed entries back for the next write, then merge the entries that were added during the failed write.
      const later = this.pending;
      this.pending = batch;
      later.forEach((entry, key) => this.add(key, entry));
      throw error;
    }
  }
}
