import { RepeatingTask } from '#libs/clock';

/**
 * Writes one batch atomically. If the promise rejects, the batch is written again. So a batch is written at least once,
 * and twice if it was committed but the response was lost: a sum then has it twice.
 */
export type BatchWriter<Entry> = (batch: Map<string, Entry>) => Promise<void>;

export interface WriteBehindOptions<Entry> {
  /** For the log, as the subject of a sentence: `Saving last uses of keys`. */
  name: string;
  /** How often collected entries are written, in milliseconds. */
  intervalMs: number;
  write: BatchWriter<Entry>;
  /** Merges a pending entry with a later one of the same key. */
  merge: (earlier: Entry, later: Entry) => Entry;
}

/**
 * Collects small changes by key and writes them in batches, so that requests never wait for them. Entries of a failed
 * batch are merged back and retried. At most one batch is written at a time.
 */
export class WriteBehind<Entry> {
  private waiting = new Map<string, Entry>();
  private batch: Map<string, Entry> | null = null;
  private hasSucceeded = true;
  private readonly task: RepeatingTask;

  constructor(private readonly options: WriteBehindOptions<Entry>) {
    this.task = new RepeatingTask({
      name: options.name,
      work: () => this.write(),
      everyMs: options.intervalMs,
    }).start();
  }

  /** True while an entry of this key is pending or being written. */
  has(key: string): boolean {
    return this.waiting.has(key) || (this.batch?.has(key) ?? false);
  }

  add(key: string, entry: Entry): void {
    const earlier = this.waiting.get(key);
    this.waiting.set(key, earlier === undefined ? entry : this.options.merge(earlier, entry));
  }

  /**
   * Writes what is pending; resolves to false on failure. Never rejects. Waits for two writes at most: those who ask
   * while a batch is being written share the next one.
   */
  async flush(): Promise<boolean> {
    await this.task.runNow();
    return this.hasSucceeded;
  }

  /** Writes what is pending, and stops; resolves to false on failure. */
  async close(): Promise<boolean> {
    const written = await this.flush();
    await this.task.stop();
    return written;
  }

  private async write(): Promise<void> {
    this.hasSucceeded = true;
    if (this.waiting.size === 0) {
      return;
    }
    const batch = (this.batch = this.waiting);
    this.waiting = new Map();
    try {
      await this.options.write(batch);
    } catch (error) {
      this.hasSucceeded = false;
      const later = this.waiting;
      this.waiting = batch;
      later.forEach((entry, key) => this.add(key, entry));
      throw error;
    } finally {
      this.batch = null;
    }
  }
}
