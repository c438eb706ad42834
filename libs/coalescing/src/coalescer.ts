export interface CoalescerOptions<Key, Value> {
  /** Answers many at once; a key without a value is left out of the answer. */
  loadMany: (keys: Key[]) => Promise<Map<Key, Value>>;
  /** Keys asked for in one go at the most. */
  maxBatch: number;
}

interface Waiting<Value> {
  resolve: (value: Value | null) => void;
  reject: (error: unknown) => void;
}

/**
 * Asks for single things in batches: while one question is under way, those that come meanwhile are collected for the
 * next. However many ask at once, one question at a time is put, so that they cannot crowd out other work.
 */
export class Coalescer<Key, Value> {
  private waiting = new Map<Key, Waiting<Value>[]>();
  private running = false;

  constructor(private readonly options: CoalescerOptions<Key, Value>) {}

  /** The value of a key, or null when there is none; rejects when the question that it was part of fails. */
  load(key: Key): Promise<Value | null> {
    return new Promise((resolve, reject) => {
      const others = this.waiting.get(key);
      if (others) {
        others.push({ resolve, reject });
      } else {
        this.waiting.set(key, [{ resolve, reject }]);
      }
      if (!this.running) {
        this.running = true;
        // Requests of the same turn of the event loop are asked for together.
        setImmediate(() => void this.run());
      }
    });
  }

  private async run(): Promise<void> {
    while (this.waiting.size > 0) {
      await this.answer(this.nextBatch());
    }
    this.running = false;
  }

  private nextBatch(): Map<Key, Waiting<Value>[]> {
    if (this.waiting.size <= this.options.maxBatch) {
      const batch = this.waiting;
      this.waiting = new Map();
      return batch;
    }
    const batch = new Map([...this.waiting].slice(0, this.options.maxBatch));
    for (const key of batch.keys()) {
      this.waiting.delete(key);
    }
    return batch;
  }

  private async answer(batch: Map<Key, Waiting<Value>[]>): Promise<void> {
    try {
      const values = await this.options.loadMany([...batch.keys()]);
      for (const [key, askers] of batch) {
        askers.forEach(({ resolve }) => resolve(values.get(key) ?? null));
      }
    } catch (error) {
      [...batch.values()].flat().forEach(({ reject }) => reject(error));
    }
  }
}
