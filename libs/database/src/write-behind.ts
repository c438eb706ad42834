/**
 * Writes one batch atomically. If the promise rejects, the batch is written again. So a batch is written at least once,
 * and twice if it was committed but the response was lost. For a latest time that makes no difference; a sum would
 * count twice, so a writer of sums must recognise a batch that it has already written.
 */
export type BatchWriter<Entry> = (batch: Map<string, Entry>) => Promise<void>;

export interface WriteBehindOptions<Entry> {
  /** How often collected entries are written, in milliseconds. */
  intervalMs: number;
  write: BatchWriter<Entry>;
  /** Called before each batch is assembled, to add() what was collected elsewhere. */
  collect?: () => void;
  /** Merges a pending entry with a later one of the same key. */
  merge: (earlier: Entry, later: Entry) => Entry;
  /** Called for every batch that could not be written; it is retried at the next interval. */
  onError: (error: unknown) => void;
}

/**
 * Collects small changes by key and writes them in batches, so that requests never wait for them. Entries of a failed
 * batch are merged back and retried. At most one batch is written at a time.
 */
export class WriteBehind<Entry> {
  private waiting = new Map<string, Entry>();
  private writing: Promise<boolean> | null = null;
  /** The write after that, for everybody who asks for one in the meantime. */
  private next: Promise<boolean> | null = null;
  private batch: Map<string, Entry> | null = null;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly options: WriteBehindOptions<Entry>) {
    this.timer = setInterval(() => void this.flush(), options.intervalMs);
    // Waiting entries are written at shutdown by close(); the timer alone must not keep a process alive.
    this.timer.unref();
  }

  /** True if nothing is pending or being written. */
  get idle(): boolean {
    return this.waiting.size === 0 && this.writing === null;
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
  flush(): Promise<boolean> {
    if (this.next === null && this.writing === null) {
      return this.write();
    }
    this.next ??= this.writing!.then(() => {
      this.next = null;
      return this.write();
    });
    return this.next;
  }

  /** Stops the timer and writes what is pending; resolves to false on failure. */
  async close(): Promise<boolean> {
    clearInterval(this.timer);
    return this.flush();
  }

  private async write(): Promise<boolean> {
    this.options.collect?.();
    if (this.waiting.size === 0) {
      return true;
    }
    // Cleared in a later turn, so that a writer that throws synchronously does not leave it set forever.
    this.writing = this.writeBatch().finally(() => (this.writing = null));
    return this.writing;
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
