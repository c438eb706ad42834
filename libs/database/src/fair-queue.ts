export interface FairQueueOptions {
  /** Maximum queue length, in total and per owner. */
  max: number;
  maxOfOwner: number;
}

/** A queue that takes turns between owners, so that one owner's backlog does not delay the others. */
export class FairQueue<Item extends { owner: number }> {
  private readonly byOwner = new Map<number, Item[]>();
  private count = 0;

  constructor(private readonly options: FairQueueOptions) {}

  get size(): number {
    return this.count;
  }

  /** @returns false if the queue is full */
  add(item: Item): boolean {
    const items = this.byOwner.get(item.owner);
    const { max, maxOfOwner } = this.options;
    if (this.count >= max || (items?.length ?? 0) >= maxOfOwner) {
      return false;
    }
    if (items === undefined) {
      this.byOwner.set(item.owner, [item]);
    } else {
      items.push(item);
    }
    this.count += 1;
    return true;
  }

  /** Returns taken items to the front of their owners' queues. Ignores the limits. */
  putBack(items: readonly Item[]): void {
    for (const item of [...items].reverse()) {
      this.byOwner.set(item.owner, [item, ...(this.byOwner.get(item.owner) ?? [])]);
      this.count += 1;
    }
  }

  /**
   * Removes items, one per owner in turn. Owners that got a turn move to the end.
   * @param accept whether to take an item; called at most once for each, in the order in which they are taken
   */
  take(accept: (item: Item) => boolean, max = Infinity): Item[] {
    const taken: Item[] = [];
    let lines = [...this.byOwner].map(([owner, items]) => ({ owner, items, seen: 0, left: [] as Item[] }));
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
