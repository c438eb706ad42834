import { AsyncResource } from 'node:async_hooks';

export interface FairQueueOptions {
  /** Maximum queue length, in total and per owner. */
  max: number;
  maxOfOwner: number;
  /** How long an item may wait, within a tenth. */
  timeoutMs: number;
  /** The error for an item that finds the queue full, or has waited too long. */
  refusal: () => Error;
}

/** Somebody who waits for the result of an item. */
export interface Waiting {
  owner: number;
  since: number;
  /** The context of the request, whose trace shows the work. */
  context: AsyncResource;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** How often late items are looked for, within the timeout. */
const CHECKS = 10;

/** A queue that takes turns between owners, so that one owner's backlog does not delay the others. */
export class FairQueue<Item extends object> {
  private readonly byOwner = new Map<number, (Item & Waiting)[]>();
  private count = 0;
  private timer?: NodeJS.Timeout;

  /** @param name of the work, for traces */
  constructor(
    private readonly name: string,
    private readonly options: FairQueueOptions,
  ) {}

  get size(): number {
    return this.count;
  }

  /**
   * Adds an item, which becomes an entry of the queue: to copy it would take longer than all else here.
   * @returns what it is resolved with, by who takes it
   * @throws what it is rejected with; the refusal if the queue is full, or nobody takes it in time
   */
  add<Result>(owner: number, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const items = this.byOwner.get(owner) ?? [];
      const { max, maxOfOwner, refusal } = this.options;
      if (this.count >= max || items.length >= maxOfOwner) {
        reject(refusal());
        return;
      }
      const entry = item as Item & Waiting;
      entry.owner = owner;
      entry.since = performance.now();
      entry.context = new AsyncResource(this.name);
      entry.resolve = resolve as Waiting['resolve'];
      entry.reject = reject;
      items.push(entry);
      this.byOwner.set(owner, items);
      this.count += 1;
      this.watch();
    });
  }

  /** Returns taken items to the front of their owners' queues. Ignores the limits. */
  putBack(items: readonly (Item & Waiting)[]): void {
    for (const item of [...items].reverse()) {
      this.byOwner.set(item.owner, [item, ...(this.byOwner.get(item.owner) ?? [])]);
      this.count += 1;
    }
    this.watch();
  }

  /**
   * Removes items, one per owner in turn. Owners that got a turn move to the end.
   * @param accept whether to take an item; called at most once for each, in the order in which they are taken
   */
  take(accept: (item: Item & Waiting) => boolean, max = Infinity): (Item & Waiting)[] {
    const taken: (Item & Waiting)[] = [];
    let lines = [...this.byOwner].map(([owner, items]) => ({
      owner,
      items,
      seen: 0,
      left: [] as (Item & Waiting)[],
    }));
    const all = lines;
    while (lines.length > 0 && taken.length < max) {
      lines = lines.filter((line) => taken.length === max || takeNext(line, accept, taken));
    }
    for (const { owner, items, seen, left } of all) {
      if (left.length < seen) {
        this.byOwner.delete(owner);
        if (left.length + items.length > seen) {
          this.byOwner.set(owner, [...left, ...items.slice(seen)]);
        }
      }
    }
    this.count -= taken.length;
    return taken;
  }

  /** Refuses late items, even while nobody takes any. */
  private watch(): void {
    const { timeoutMs, refusal } = this.options;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const deadline = performance.now() - timeoutMs;
      this.take(({ since }) => since < deadline).forEach(({ reject }) => reject(refusal()));
      if (this.count > 0) {
        this.watch();
      }
    }, timeoutMs / CHECKS).unref();
  }
}

/** The items of an owner: `seen` of them were offered, and those in `left` were not taken. */
interface Line<Item> {
  items: readonly Item[];
  seen: number;
  left: Item[];
}

/** @returns false at the end of the line */
function takeNext<Item>(line: Line<Item>, accept: (item: Item) => boolean, taken: Item[]): boolean {
  while (line.seen < line.items.length) {
    const item = line.items[line.seen]!;
    line.seen += 1;
    if (accept(item)) {
      taken.push(item);
      return true;
    }
    line.left.push(item);
  }
  return false;
}
