/** What a sweep does with an entry. */
export type Fate = 'keep' | 'mark stale' | 'forget';

/**
 * Cached clients or keys, by id. An entry is fresh, or stale: it must be read again before use. Fresh and stale entries
 * are in separate maps, so that a request needs one lookup and entries need no flag.
 */
export class Entries<Entry> {
  private fresh = new Map<number, Entry>();
  private stale = new Map<number, Entry>();

  get size(): number {
    return this.fresh.size + this.stale.size;
  }

  /** The entry if it can be used as it is. */
  find(id: number): Entry | undefined {
    return this.fresh.get(id);
  }

  /** The entry, fresh or stale. */
  known(id: number): Entry | undefined {
    return this.fresh.get(id) ?? this.stale.get(id);
  }

  /** Remembers an entry that has just been read. */
  set(id: number, entry: Entry): void {
    this.stale.delete(id);
    this.fresh.set(id, entry);
  }

  markAllStale(): void {
    this.stale.forEach((entry, id) => this.fresh.set(id, entry));
    this.stale = this.fresh;
    this.fresh = new Map();
  }

  sweep(fateOf: (entry: Entry) => Fate): void {
    for (const [id, entry] of this.stale) {
      if (fateOf(entry) === 'forget') {
        this.stale.delete(id);
      }
    }
    for (const [id, entry] of this.fresh) {
      const fate = fateOf(entry);
      if (fate !== 'keep') {
        this.fresh.delete(id);
      }
      if (fate === 'mark stale') {
        this.stale.set(id, entry);
      }
    }
  }
}
