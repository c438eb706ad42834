import { AsyncResource } from 'node:async_hooks';

interface FairQueueOptions {
  /** Maximum number of waiting items. */
  max: number;
  maxOfOwner: number;
  timeoutMs: number;
}

/** Rejects an item because the queue is full, or because the item has waited for too long. */
export class OverloadedError extends Error {}

/** The properties that the queue adds to a waiting item. */
export interface Waiting {
  owner: number;
  /** The round in which the item is taken. An owner has one item in each round. */
  round: number;
  since: number;
  /**
   * The async context of the request that added the item, so that the work on the item appears in the request's trace.
   */
  context: AsyncResource;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Running work is slow after this time. Slow work does not keep other work from starting, because its connection may
 * hang.
 */
const PATIENCE_MS = 100;

/** Returns the running work that is not slow yet. */
export function promptOf<Work extends { since: number }>(running: readonly Work[]): Work[] {
  const now = performance.now();
  return running.filter(({ since }) => now - since < PATIENCE_MS);
}

/** A queue that serves owners in round-robin order, so that one owner's backlog does not delay other owners. */
export class FairQueue<Item extends object> {
  /** Sorted by `round`. */
  private items: (Item & Waiting)[] = [];
  /** The latest round from which items were taken. `served` has the owners of these items. */
  private round = 0;
  private served = new Set<number>();
  private timer?: NodeJS.Timeout;
  private isScheduled = false;

  /**
   * @param name names the work in traces and error messages
   * @param onWaiting called once after a turn of the event loop in which items were added, so that the new items can be
   * taken together, and every 100 ms while items wait
   */
  constructor(
    private readonly name: string,
    private readonly options: FairQueueOptions,
    private readonly onWaiting: () => void,
  ) {}

  get size(): number {
    return this.items.length;
  }

  /**
   * Adds an item, one round after the last item of the same owner.
   * @returns the value with which the taken item is resolved
   * @throws the error with which the taken item is rejected; OverloadedError if the queue is full or the item waits for
   * too long
   */
  add<Result>(owner: number, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      let [waiting, round] = [0, this.served.has(owner) ? this.round + 1 : this.round];
      for (const other of this.items) {
        if (other.owner === owner) {
          waiting += 1;
          round = Math.max(round, other.round + 1);
        }
      }
      if (this.size >= this.options.max || waiting >= this.options.maxOfOwner) {
        reject(this.overloaded());
        return;
      }
      // Add the queue's properties to the item itself: copying the item would take longer than the rest of this
      // function.
      const entry = item as Item & Waiting;
      entry.owner = owner;
      entry.round = round;
      entry.since = performance.now();
      entry.context = new AsyncResource(this.name);
      entry.resolve = resolve as Waiting['resolve'];
      entry.reject = reject;
      const place = this.items.findLastIndex((other) => other.round <= round) + 1;
      this.items.splice(place, 0, entry);
      this.watch();
      this.schedule();
    });
  }

  /** Calls `onWaiting` once after the current turn of the event loop. */
  schedule(): void {
    if (!this.isScheduled) {
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        this.onWaiting();
      });
    }
  }

  /** Returns taken items to the front of the queue, even if the queue is full. */
  putBack(items: readonly (Item & Waiting)[]): void {
    this.items.unshift(...items);
    this.watch();
  }

  /**
   * Removes and returns at most `max` items, in the order of the queue.
   * @param accept decides whether to take an item; called at most once for each item, in the order of the queue
   */
  take(accept: (item: Item & Waiting) => boolean, max = Infinity): (Item & Waiting)[] {
    const taken: (Item & Waiting)[] = [];
    this.items = this.items.filter((item) => {
      if (taken.length === max || !accept(item)) {
        return true;
      }
      if (item.round > this.round) {
        this.round = item.round;
        this.served = new Set();
      }
      this.served.add(item.owner);
      taken.push(item);
      return false;
    });
    return taken;
  }

  private overloaded(): Error {
    return new OverloadedError(`Too many wait for the database: ${this.name}.`);
  }

  /** While items wait, rejects the items that have waited for too long and calls `onWaiting`, every 100 ms. */
  private watch(): void {
    if (this.size > 0) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        const deadline = performance.now() - this.options.timeoutMs;
        this.take(({ since }) => since < deadline).forEach(({ reject }) => reject(this.overloaded()));
        this.onWaiting();
        this.watch();
      }, PATIENCE_MS).unref();
    }
  }
}
