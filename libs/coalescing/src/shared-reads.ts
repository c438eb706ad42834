/**
 * Equal reads share an answer. While one is under way, those that come meanwhile share the next one, so that nobody
 * gets what was read before they asked. Reads that differ do not wait for each other.
 */
export class SharedReads<Key, Value> {
  private readonly next = new Map<Key, Promise<Value>>();
  private readonly underWay = new Map<Key, Promise<unknown>>();

  /**
   * @param key equal for reads that would answer the same
   * @param load reads; called once for all who share it, after the last of them has asked
   * @throws whatever the read that is shared throws, to everybody who shares it
   */
  read(key: Key, load: () => Promise<Value>): Promise<Value> {
    let next = this.next.get(key);
    if (next === undefined) {
      next = this.run(key, load);
      this.next.set(key, next);
    }
    return next;
  }

  private async run(key: Key, load: () => Promise<Value>): Promise<Value> {
    await (this.underWay.get(key) ?? nextTurn());
    this.next.delete(key);
    const reading = load();
    // Who waits for its turn does not care how this one ends.
    const settled = reading.then(
      () => undefined,
      () => undefined,
    );
    this.underWay.set(key, settled);
    try {
      return await reading;
    } finally {
      if (this.underWay.get(key) === settled) {
        this.underWay.delete(key);
      }
    }
  }
}

/** Requests of the same turn of the event loop are still to come. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
