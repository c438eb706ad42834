/**
 * Writes one batch, all of it or nothing. When the promise is rejected, the batch is written again: so each is written at
 * least once, and twice when it was committed and only the acknowledgement was lost. The latest of two times is the same
 * then; a sum has counted twice, and a caller whose sums must not do that has to know a batch that it has written.
 */
export type BatchWriter<Entry> = (batch: Map<string, Entry>) => Promise<void>;

export interface WriteBehindOptions<Entry> {
  /** How often collected entries are written, in milliseconds. */
  intervalMs: number;
  write: BatchWriter<Entry>;
  /** Called before each batch is made up, to add() what is collected elsewhere. */
  collect?: () => void;
  /** Joins what is waiting under a key with what came later. */
  merge: (earlier: Entry, later: Entry) => Entry;
  /** Told of every batch that could not be written; the batch waits for the next turn. */
  onError: (error: unknown) => void;
}

/**
 * Collects small changes by key and writes them in batches, so that a request never waits for them.
 * Entries of a failed batch are merged back and tried again; at most one batch is under way at a time.
 */
export class WriteBehind<Entry> {
  private waiting = new Map<string, Entry>();
  private writing: Promise<boolean> | null = null;
  private batch: Map<string, Entry> | null = null;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly options: WriteBehindOptions<Entry>) {
    this.timer = setInterval(() => void this.flush(), options.intervalMs);
    // Waiting entries are written at shutdown by close(); the timer alone must not keep a process alive.
    this.timer.unref();
  }

  /** True when nothing waits and no batch is under way. */
  get idle(): boolean {
    return this.waiting.size === 0 && this.writing === null;
  }

  /** True while something waits under this key, or is being written. */
  has(key: string): boolean {
    return this.waiting.has(key) || (this.batch?.has(key) ?? false);
  }

  add(key: string, entry: Entry): void {
    const earlier = this.waiting.get(key);
    this.waiting.set(key, earlier === undefined ? entry : this.options.merge(earlier, entry));
  }

  /** Writes what is pending; resolves to false on failure. Never rejects. */
  async flush(): Promise<boolean> {
    while (this.writing) {
      await this.writing;
    }
    this.options.collect?.();
    if (this.waiting.size === 0) {
      return true;
    }
    // Cleared in a later turn in any case, so that a writer which throws at once does not leave it set for good.
    this.writing = this.writeBatch().finally(() => (this.writing = null));
    return this.writing;
  }

  /** Stops the timer and writes what is left; resolves to false when that was not possible. */
  async close(): Promise<boolean> {
    clearInterval(this.timer);
    return this.flush();
  }

  private async writeBatch(): Promise<boolean> {
    const batch = this.waiting;
    this.batch = batch;
    this.waiting = new Map();
    try {
      await this.options.write(batch);
      return true;
    } catch (error) {
      const later = this.waiting;
      this.waiting = batch;
      for (const [key, entry] of later) {
        this.add(key, entry);
      }
      this.options.onError(error);
      return false;
    } finally {
      this.batch = null;
    }
  }
}
