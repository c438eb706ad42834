interface Waiting {
  owner: number;
  /** What the item works on. */
  subjects: readonly string[];
}

export interface FairQueueOptions {
  /** How many items may wait, and how many of one owner. */
  max: number;
  maxOfOwner: number;
}

/** Items that wait, taken in turns by owner: one owner's thousand do not stand before another's first. */
export class FairQueue<Item extends Waiting> {
  private readonly byOwner = new Map<number, Item[]>();
  private count = 0;

  constructor(private readonly options: FairQueueOptions) {}

  get size(): number {
    return this.count;
  }

  /** @returns false when the queue is full */
  add(item: Item): boolean {
    const items = this.byOwner.get(item.owner) ?? [];
    if (this.count >= this.options.max || items.length >= this.options.maxOfOwner) {
      return false;
    }
    items.push(item);
    this.byOwner.set(item.owner, items);
    this.count += 1;
    return true;
  }

  /**
   * Takes items out, one of each owner in turn.
   * @param busy subjects that others work on; items about them stay
   */
  take(most: number, busy: ReadonlySet<string>): Item[] {
    const lines = [...this.byOwner].map(([owner, items]) => {
      const isReady = ({ subjects }: Item) => !subjects.some((subject) => busy.has(subject));
      return { owner, items, ready: busy.size === 0 ? items : items.filter(isReady) };
    });
    const taken = new Set<Item>();
    for (let round = 0; taken.size < most; round += 1) {
      const before = taken.size;
      for (const { ready } of lines) {
        if (round < ready.length && taken.size < most) {
          taken.add(ready[round]!);
        }
      }
      if (taken.size === before) {
        break;
      }
    }
    for (const { owner, items } of lines) {
      this.keep(
        owner,
        items.filter((item) => !taken.has(item)),
        taken.size > 0,
      );
    }
    return [...taken];
  }

  /** Takes out all items for which this holds. */
  takeWhere(holds: (item: Item) => boolean): Item[] {
    const taken: Item[] = [];
    for (const [owner, items] of [...this.byOwner]) {
      taken.push(...items.filter(holds));
      this.keep(
        owner,
        items.filter((item) => !holds(item)),
        true,
      );
    }
    return taken;
  }

  /** An owner who was served goes to the end of the line. */
  private keep(owner: number, items: Item[], wasServed: boolean): void {
    this.count += items.length - this.byOwner.get(owner)!.length;
    if (items.length === 0 || wasServed) {
      this.byOwner.delete(owner);
    }
    if (items.length > 0) {
      this.byOwner.set(owner, items);
    }
  }
}
