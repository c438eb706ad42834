import { AsyncResource } from 'node:async_hooks';
import { Turns } from './turns';

export interface CoalescerOptions<Key, Value> {
  /** Loads many values; keys without a value are left out of the result. */
  loadMany: (keys: Key[]) => Promise<Map<Key, Value>>;
  /** Maximum keys per batch. */
  maxBatch: number;
}

interface Waiting<Value> {
  resolve: (value: Value | null) => void;
  reject: (error: unknown) => void;
}

/**
 * Loads single values in batches: while one batch loads, new requests are collected for the next. Batches run one at a
 * time, to leave connections for other work; a slow batch does not block the next (see `Turns`). A value is never older
 * than its request.
 */
export class Coalescer<Key, Value> {
  private waiting = new Map<Key, Waiting<Value>[]>();
  /** The context of the first request in `waiting`. */
  private starter!: AsyncResource;
  private readonly turns = new Turns(() => this.run());

  constructor(private readonly options: CoalescerOptions<Key, Value>) {}

  /**
   * The value of a key, or null if there is none. Objects are compared by identity.
   * @throws the error of its batch
   */
  load(key: Key): Promise<Value | null> {
    return new Promise((resolve, reject) => {
      if (this.waiting.size === 0) {
        this.starter = new AsyncResource('Batch');
      }
      this.turns.soon();
      const others = this.waiting.get(key);
      if (others) {
        others.push({ resolve, reject });
      } else {
        this.waiting.set(key, [{ resolve, reject }]);
      }
    });
  }

  private run(): void {
    if (this.waiting.size === 0 || !this.turns.free) {
      return;
    }
    const { starter } = this;
    const batch = this.nextBatch();
    void this.turns.take(starter, () => this.answer(batch));
    this.run();
  }

  private nextBatch(): Map<Key, Waiting<Value>[]> {
    const { maxBatch } = this.options;
    if (this.waiting.size <= maxBatch) {
      const batch = this.waiting;
      this.waiting = new Map();
      return batch;
    }
    const batch = new Map([...this.waiting].slice(0, maxBatch));
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
