/** What becomes of an entry when all of them are looked through. */
export type Verdict = 'keep' | 'mark stale' | 'forget';

/**
 * What is remembered of clients or of keys, by id. An entry is fresh, or stale: known, but to be read again before it is
 * used. Each kind has a map of its own, so that a request needs one look-up and an entry no member that says which it is.
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

  lookThrough(verdictOn: (entry: Entry) => Verdict): void {
    for (const [id, entry] of this.stale) {
      if (verdictOn(entry) === 'forget') {
        this.stale.delete(id);
      }
    }
    for (const [id, entry] of this.fresh) {
      const verdict = verdictOn(entry);
      if (verdict !== 'keep') {
        this.fresh.delete(id);
      }
      if (verdict === 'mark stale') {
        this.stale.set(id, entry);
      }
    }
  }
}
