import { nextCursor } from './header-fields.ts';

const MAX_PAGE_SIZE = 100;

export interface ApiResponse<Data> {
  data: Data;
  /** Status and header fields; the body has been read. */
  response: Response;
}

/** The outcome of a call: its data, or with `withResponse()` its header fields as well. */
export class ApiPromise<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag]: string = 'ApiPromise';
  private sent?: Promise<ApiResponse<Data>>;

  constructor(private readonly send: () => Promise<ApiResponse<Data>>) {}

  /** Sends the request, unless it has been sent. */
  withResponse(): Promise<ApiResponse<Data>> {
    this.sent ??= this.send();
    return this.sent;
  }

  then<Kept = Data, Caught = never>(
    onKept?: ((data: Data) => Kept | PromiseLike<Kept>) | null,
    onFailed?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.data().then(onKept, onFailed);
  }

  catch<Caught = never>(
    onFailed?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Data | Caught> {
    return this.data().catch(onFailed);
  }

  finally(onEnd?: (() => void) | null): Promise<Data> {
    return this.data().finally(onEnd);
  }

  private async data(): Promise<Data> {
    return (await this.withResponse()).data;
  }
}

export interface PageQuery {
  limit?: number;
  cursor?: string;
}

/**
 * A list that is read on demand. Awaited, it is the first page; iterated, it is all entries, page by page. Nothing is
 * sent before that.
 */
export class List<Entry> extends ApiPromise<Entry[]> implements AsyncIterable<Entry> {
  override readonly [Symbol.toStringTag] = 'List';

  constructor(
    private readonly readPage: (query: PageQuery) => Promise<ApiResponse<Entry[]>>,
    private readonly query: PageQuery = {},
  ) {
    super(() => readPage(query));
  }

  /**
   * The pages, one request each, as long as the responses link to a next page (RFC 8288, `rel="next"`). The default
   * page size is the largest, because each page counts as a request.
   * @throws whatever reading a page throws; Error if a page links to itself
   */
  async *pages(): AsyncGenerator<Entry[], void, undefined> {
    let { cursor } = this.query;
    for (;;) {
      const { data, response } = await this.readPage({ limit: MAX_PAGE_SIZE, ...this.query, cursor });
      yield data;
      const next = nextCursor(response.headers);
      if (next === undefined) {
        return;
      }
      if (next === cursor) {
        throw new Error('The page of a list links to itself.');
      }
      cursor = next;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    for await (const page of this.pages()) {
      yield* page;
    }
  }
}
