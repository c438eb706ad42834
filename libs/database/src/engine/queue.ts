import { AsyncResource } from 'node:async_hooks';

interface FairQueueOptions {
  /** Maximum queue length, in total and per owner. */
  max: number;
  maxOfOwner: number;
  /** How long an item may wait. */
  timeoutMs: number;
}

/** An item found the queue full, or has waited too long. */
export class OverloadedError extends Error {}

/** Somebody who waits for the result of an item. */
export interface Waiting {
  owner: number;
  /** Items are taken in the order of their turns. */
  turn: number;
  since: number;
  /** The context of the request, whose trace shows the work. */
  context: AsyncResource;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** Work that takes longer stops blocking the next, because a connection can hang until its timeout. */
const PATIENCE_MS = 100;

/** @returns the work that does not take that long yet */
export function promptOf<Work extends { since: number }>(running: readonly Work[]): Work[] {
  const now = performance.now();
  return running.filter(({ since }) => now - since < PATIENCE_MS);
}

/** A queue that takes turns between owners, so that one owner's backlog does not delay the others. */
export class FairQueue<Item extends object> {
  /** In the order of their turns. */
  private items: (Item & Waiting)[] = [];
  /** The latest of which items were taken, and their owners. */
  private turn = 0;
  private served = new Set<number>();
  private timer?: NodeJS.Timeout;
  private isScheduled = false;

  /**
   * @param name of the work, for traces
   * @param onWaiting called after a turn of the event loop in which items were added, so that they can be taken together, and from
   * time to time while items wait
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
   * Adds an item, which becomes an entry of the queue: a turn after the owner's one before it.
   * @returns what it is resolved with, by who takes it
   * @throws what it is rejected with; OverloadedError if the queue is full, or nobody takes it in time
   */
  add<Result>(owner: number, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      let [waiting, turn] = [0, this.served.has(owner) ? this.turn + 1 : this.turn];
      for (const other of this.items) {
        if (other.owner === owner) {
          waiting += 1;
          turn = Math.max(turn, other.turn + 1);
        }
      }
      if (this.size >= this.options.max || waiting >= this.options.maxOfOwner) {
        reject(this.overloaded());
        return;
      }
      // The item itself becomes the entry: to copy it would take longer than all else here.
      const entry = item as Item & Waiting;
      entry.owner = owner;
      entry.turn = turn;
      entry.since = performance.now();
      entry.context = new AsyncResource(this.name);
      entry.resolve = resolve as Waiting['resolve'];
      entry.reject = reject;
      const place = this.items.findLastIndex((other) => other.turn <= turn) + 1;
      this.items.splice(place, 0, entry);
      this.watch();
      this.schedule();
    });
  }

  /** Calls `onWaiting` after this turn of the event loop. */
  schedule(): void {
    if (!this.isScheduled) {
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        this.onWaiting();
      });
    }
  }

  /** Returns taken items to the front. Ignores the limits. */
  putBack(items: readonly (Item & Waiting)[]): void {
    this.items.unshift(...items);
    this.watch();
  }

  /**
   * Removes items, in the order of their turns.
   * @param accept whether to take an item; called at most once for each, in the order in which they are taken
   */
  take(accept: (item: Item & Waiting) => boolean, max = Infinity): (Item & Waiting)[] {
    const taken: (Item & Waiting)[] = [];
    this.items = this.items.filter((item) => {
      if (taken.length === max || !accept(item)) {
        return true;
      }
      if (item.turn > this.turn) {
        this.turn = item.turn;
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

  /** Refuses late items, even while nobody takes any. */
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
