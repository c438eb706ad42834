import { Logger } from '@nestjs/common';

/**
 * Takes over work that no caller awaits, and logs if the work fails: an unhandled rejection would end the process.
 * @param name for the log, as the subject of a sentence: `Sending metrics`
 */
export function inBackground(name: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => new Logger('BackgroundTask').error(`${name} failed: ${String(error)}`));
}

interface RepeatingTaskOptions {
  /** For the log, as the subject of a sentence: `Deleting old events`. */
  name: string;
  work: () => unknown;
  /** Milliseconds from `start`, or from the end of a run, to the next; null to sleep until the next `start` or `runNow`. */
  everyMs: number | (() => number | null);
}

/**
 * Repeats work in the background until it is stopped. Runs never overlap. Of failed runs, the first in a row and the recovery
 * are logged. The timer does not keep the process alive.
 */
export class RepeatingTask {
  private readonly logger = new Logger('BackgroundTask');
  private timer?: NodeJS.Timeout;
  private running?: Promise<void>;
  /** The run after the current one, for everybody who asks for one in the meantime. */
  private next?: Promise<void>;
  private isStopped = false;
  private isFailing = false;

  constructor(private readonly options: RepeatingTaskOptions) {}

  start(): this {
    this.schedule();
    return this;
  }

  /** As `runNow`, for callers that do not wait for the run. */
  wake(): void {
    inBackground(this.options.name, this.runNow());
  }

  /** Starts as well. Resolves when a run that starts now, or after the current one, has ended, successful or not. */
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

  /** Starts no more runs, and waits for the current one. */
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
  /** For the log, as the subject of a sentence: `Saving last uses of keys`. */
  name: string;
  /** How long an entry waits at most until it is written, in milliseconds. */
  intervalMs: number;
  /** Writes one batch atomically. After a failure it is written again: twice, if it was committed but the response was lost. */
  write: (batch: Map<string, Entry>) => Promise<void>;
  merge: (earlier: Entry, later: Entry) => Entry;
}

/**
 * Collects small changes by key and writes them in batches, one at a time, so that requests never wait for them. Sleeps while
 * nothing is pending.
 */
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

  /** As `flush`, for callers that do not wait for the end. */
  flushSoon(): void {
    this.task.wake();
  }

  /** Writes what is pending, after the batch that is being written. Never rejects. */
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
      // What was added meanwhile comes later.
      const later = this.pending;
      this.pending = batch;
      later.forEach((entry, key) => this.add(key, entry));
      throw error;
    }
  }
}
