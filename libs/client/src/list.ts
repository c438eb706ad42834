/**
 * A list that is read on demand. Awaited, it is the first page; iterated, it is all entries, page by page. Nothing is
 * sent before that.
 */
export class List<Entry> implements Promise<Entry[]>, AsyncIterable<Entry> {
  readonly [Symbol.toStringTag] = 'List';
  private first?: Promise<Entry[]>;

  constructor(
    private readonly read: () => Promise<Entry[]>,
    private readonly readPages: () => AsyncIterable<Entry[]>,
  ) {}

  /** The pages, one request each, with 100 entries by default. */
  pages(): AsyncIterable<Entry[]> {
    return this.readPages();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    for await (const page of this.readPages()) {
      yield* page;
    }
  }

  then<Kept = Entry[], Caught = never>(
    onKept?: ((entries: Entry[]) => Kept | PromiseLike<Kept>) | null,
    onFailed?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.page().then(onKept, onFailed);
  }

  catch<Caught = never>(
    onFailed?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Entry[] | Caught> {
    return this.page().catch(onFailed);
  }

  finally(onEnd?: (() => void) | null): Promise<Entry[]> {
    return this.page().finally(onEnd);
  }

  private page(): Promise<Entry[]> {
    this.first ??= this.read();
    return this.first;
  }
}
