import { AsyncResource } from 'node:async_hooks';

interface FairQueueOptions {
  max: number;
  maxOfCaller: number;
  timeoutMs: number;
}

/** The error for an item that finds the queue full or waits in the queue for too long. */
export class OverloadedError extends Error {}

/**
 * A number that identifies a caller. Callers take turns in the queues of reads and commands. The type is narrower than
 * `number`, so that the compiler refuses the id of a row in the place of a caller id. An application casts its own number,
 * such as the id of an account.
 */
export type CallerId = number & { readonly isCallerId: true };

/** The caller id of reads and commands that the service makes for itself. */
export const SERVICE_CALLER_ID = 0 as CallerId;

/** An item of a queue, with the caller that waits for its result. */
export interface Queued<Item> {
  readonly item: Item;
  readonly callerId: CallerId;
  /** The number of the round in which the item is taken from the queue (see `FairQueue`). */
  readonly round: number;
  readonly since: number;
  /** The async context of the request that added the item, so that the request's trace has the spans of the work. */
  readonly context: AsyncResource;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Milliseconds after which running work counts as slow. Other work then starts on another connection instead of waiting
 * for the slow work.
 */
const SLOW_AFTER_MS = 100;

/** Returns the work that has been running for less than SLOW_AFTER_MS. */
export function startedRecently<Work extends { since: number }>(running: readonly Work[]): Work[] {
  const now = performance.now();
  return running.filter(({ since }) => now - since < SLOW_AFTER_MS);
}

/**
 * A queue from which items are taken in rounds. Each caller has at most one item in a round, so that one caller's backlog
 * does not delay other callers.
 */
export class FairQueue<Item> {
  private items: Queued<Item>[] = [];
  /** The number of the current round. A round ends when one item of each caller that has waiting items has been taken. */
  private round = 0;
  /** The callers of which an item was taken in the current round. */
  private served = new Set<CallerId>();
  private timer?: NodeJS.Timeout;
  private isScheduled = false;

  /**
   * @param name names the work in traces and error messages
   * @param onWaiting called soon after items were added, and every 100 ms while items wait
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
   * Adds an item to the queue, in the first round in which the caller has no other item.
   * @returns the result of the work on the item, which the code that has taken the item passes to `resolve`
   * @throws the error that this code passes to `reject`; OverloadedError if the queue is full or the item waits for too
   * long
   */
  add<Result>(callerId: CallerId, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      let [waiting, round] = [0, this.served.has(callerId) ? this.round + 1 : this.round];
      for (const other of this.items) {
        if (other.callerId === callerId) {
          waiting += 1;
          round = Math.max(round, other.round + 1);
        }
      }
      if (this.size >= this.options.max || waiting >= this.options.maxOfCaller) {
        reject(this.overloaded());
        return;
      }
      const place = this.items.findLastIndex((other) => other.round <= round) + 1;
      this.items.splice(place, 0, {
        item,
        callerId,
        round,
        since: performance.now(),
        context: new AsyncResource(this.name),
        resolve: resolve as Queued<Item>['resolve'],
        reject,
      });
      this.watch();
      this.schedule();
    });
  }

  schedule(): void {
    if (!this.isScheduled) {
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        this.onWaiting();
      });
    }
  }

  find(accept: (queued: Queued<Item>) => boolean): Queued<Item> | undefined {
    return this.items.find(accept);
  }

  /** Puts items that `take` has removed back at the front of the queue, even if the queue is full. */
  putBack(items: readonly Queued<Item>[]): void {
    this.items.unshift(...items);
    this.watch();
  }

  /**
   * Removes and returns at most `max` items, in the order of the queue.
   * @param accept decides whether to take an item
   */
  take(accept: (queued: Queued<Item>) => boolean, max = Infinity): Queued<Item>[] {
    const taken: Queued<Item>[] = [];
    this.items = this.items.filter((queued) => {
      if (taken.length === max || !accept(queued)) {
        return true;
      }
      if (queued.round > this.round) {
        this.round = queued.round;
        this.served = new Set();
      }
      this.served.add(queued.callerId);
      taken.push(queued);
      return false;
    });
    return taken;
  }

  private overloaded(): Error {
    return new OverloadedError(
      `The database is overloaded: too many requests wait in the queue "${this.name}".`,
    );
  }

  private watch(): void {
    if (this.size > 0) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        const deadline = performance.now() - this.options.timeoutMs;
        this.take(({ since }) => since < deadline).forEach(({ reject }) => reject(this.overloaded()));
        this.onWaiting();
        this.watch();
      }, SLOW_AFTER_MS).unref();
    }
  }
}
