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
   * Removes ready items, one per owner in turn. Owners that got a turn move to the end.
   * @param most maximum number of items
   */
  take(most: number, isReady: (item: Item) => boolean): Item[] {
    const lines = [...this.byOwner].map(([owner, items]) => ({ owner, ready: items.filter(isReady) }));
    const taken = new Set<Item>();
    const rounds = Math.max(0, ...lines.map(({ ready }) => ready.length));
    for (let round = 0; round < rounds && taken.size < most; round += 1) {
      for (const { ready } of lines) {
        if (round < ready.length && taken.size < most) {
          taken.add(ready[round]!);
        }
      }
    }
    for (const { owner, ready } of lines) {
      if (ready.some((item) => taken.has(item))) {
        const rest = this.byOwner.get(owner)!.filter((item) => !taken.has(item));
        this.byOwner.delete(owner);
        if (rest.length > 0) {
          this.byOwner.set(owner, rest);
        }
      }
    }
    this.count -= taken.size;
    return [...taken];
  }
}
