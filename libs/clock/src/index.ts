import { Logger } from '@nestjs/common';

export const DAY_MS = 86_400_000;

/** The day of this unix time in milliseconds, in UTC: `2026-11-21`. */
export function utcDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** The source of time. Tests replace it. */
export abstract class Clock {
  /** Milliseconds of unix time. */
  abstract now(): number;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}

interface RepeatingTaskOptions {
  /** For the log, as the subject of a sentence: `Deleting old events`. */
  name: string;
  work: () => unknown;
  /** Milliseconds from `start`, or from the end of a run, to the next; null to sleep until the next `start` or `runNow`. */
  everyMs: number | (() => number | null);
}

/**
 * Repeats work in the background until it is stopped. Runs never overlap. A failed run is repeated like any other; the
 * first failure in a row and the recovery are logged. The timer does not keep the process alive.
 */
export class RepeatingTask {
  private readonly logger = new Logger('BackgroundTask');
  private timer?: NodeJS.Timeout;
  private running?: Promise<void>;
  /** The run after the current one, for everybody who asks for one in the meantime. */
  private next?: Promise<void>;
  private isStarted = false;
  private isStopped = false;
  private isFailing = false;

  constructor(private readonly options: RepeatingTaskOptions) {}

  start(): this {
    this.isStarted = true;
    this.schedule();
    return this;
  }

  /**
   * Starts a run now, or after the current one, whether or not the task was started. Never rejects.
   * @returns when that run has ended, successful or not
   */
  runNow(): Promise<void> {
    if (this.running === undefined) {
      return this.run();
    }
    this.next ??= this.running.then(() => {
      this.next = undefined;
      return this.run();
    });
    return this.next;
  }

  /** Starts no more runs, and waits for the current one. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async run(): Promise<void> {
    if (this.isStopped) {
      return;
    }
    clearTimeout(this.timer);
    this.running = this.attempt();
    await this.running;
    this.running = undefined;
    if (this.isStarted && this.next === undefined) {
      this.schedule();
    }
  }

  private async attempt(): Promise<void> {
    const { name, work } = this.options;
    try {
      await work();
      if (this.isFailing) {
        this.isFailing = false;
        this.logger.log(`${name} works again.`);
      }
    } catch (error) {
      if (!this.isFailing && !this.isStopped) {
        this.isFailing = true;
        this.logger.warn(`${name} failed; will retry: ${String(error)}`);
      }
    }
  }

  private schedule(): void {
    clearTimeout(this.timer);
    const { everyMs } = this.options;
    const pauseMs = typeof everyMs === 'number' ? everyMs : everyMs();
    if (!this.isStopped && pauseMs !== null) {
      this.timer = setTimeout(() => void this.runNow(), pauseMs).unref();
    }
  }
}

/**
 * Writes one batch atomically. If the promise rejects, the batch is written again. So a batch is written at least once,
 * and twice if it was committed but the response was lost: a sum then has it twice.
 */
type BatchWriter<Entry> = (batch: Map<string, Entry>) => Promise<void>;

interface WriteBehindOptions<Entry> {
  /** For the log, as the subject of a sentence: `Saving last uses of keys`. */
  name: string;
  /** How long an entry waits at most until it is written, in milliseconds. */
  intervalMs: number;
  write: BatchWriter<Entry>;
  /** Merges a pending entry with a later one of the same key. */
  merge: (earlier: Entry, later: Entry) => Entry;
}

/**
 * Collects small changes by key and writes them in batches, so that requests never wait for them. Entries of a failed
 * batch are merged back and retried. At most one batch is written at a time. Sleeps while nothing waits.
 */
export class WriteBehind<Entry> {
  private waiting = new Map<string, Entry>();
  private batch: Map<string, Entry> | null = null;
  private readonly task: RepeatingTask;

  constructor(private readonly options: WriteBehindOptions<Entry>) {
    this.task = new RepeatingTask({
      name: options.name,
      work: () => this.write(),
      everyMs: () => (this.waiting.size === 0 ? null : options.intervalMs),
    });
  }

  /** True while an entry of this key is pending or being written. */
  has(key: string): boolean {
    return this.waiting.has(key) || (this.batch?.has(key) ?? false);
  }

  add(key: string, entry: Entry): void {
    const earlier = this.waiting.get(key);
    this.waiting.set(key, earlier === undefined ? entry : this.options.merge(earlier, entry));
    if (this.waiting.size === 1 && earlier === undefined) {
      this.task.start();
    }
  }

  /**
   * Writes what is pending. Never rejects. Waits for two writes at most: those who ask while a batch is being written share
   * the next one.
   */
  flush(): Promise<void> {
    return this.task.runNow();
  }

  /** Writes what is pending, and stops. */
  async close(): Promise<void> {
    await this.flush();
    await this.task.stop();
  }

  private async write(): Promise<void> {
    if (this.waiting.size === 0) {
      return;
    }
    const batch = (this.batch = this.waiting);
    this.waiting = new Map();
    try {
      await this.options.write(batch);
    } catch (error) {
      const later = this.waiting;
      this.waiting = batch;
      later.forEach((entry, key) => this.add(key, entry));
      throw error;
    } finally {
      this.batch = null;
    }
  }
}
