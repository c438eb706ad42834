// What a call returns: a promise of its data, and for a list its pages as well.
const MAX_PAGE_SIZE = 100;

/** Options of any call. */
export interface CallOptions {
  /** Aborts the call at any stage; it then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** For a POST: the key that makes it run only once, however often it is sent. Default: a new one for each call. */
  idempotencyKey?: string;
  /** For a change: the ETag of the resource. If it has changed since, the call fails (412). */
  ifMatch?: string;
}

/** Options of a read that needs data only if they are new. */
export interface ConditionalOptions extends CallOptions {
  /** The ETag of an earlier response. If the resource has not changed, there are no data (304). */
  ifNoneMatch: string;
}

export interface ApiResponse<Data> {
  data: Data;
  /** Status and header fields; the body has been read. */
  response: Response;
}

/** The outcome of a call: its data, or with `withResponse()` its header fields as well. */
export class ApiPromise<Data> extends Promise<Data> {
  /** `catch` and `finally` return a plain promise as well. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  private sent?: Promise<ApiResponse<Data>>;

  constructor(private readonly send: () => Promise<ApiResponse<Data>>) {
    super(() => undefined);
  }

  /** The data with the response. Sends the request, unless it has been sent. */
  withResponse(): Promise<ApiResponse<Data>> {
    this.sent ??= this.send();
    return this.sent;
  }

  override then<Kept = Data, Caught = never>(
    onKept?: ((data: Data) => Kept | PromiseLike<Kept>) | null,
    onFailed?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.withResponse()
      .then(({ data }) => data)
      .then(onKept, onFailed);
  }
}

/** The entries of one page. */
export interface Page<Entry> extends Array<Entry> {
  /** Requests the next page; undefined after the last one. */
  next(): Promise<Page<Entry> | undefined>;
}

export interface PageQuery {
  limit?: number;
  cursor?: string;
}

type ReadPage<Entry> = (query: PageQuery) => Promise<ApiResponse<Entry[]>>;

/**
 * A list that is read on demand. Awaited, it is the first page; iterated, it is all entries, page by page. Nothing is
 * sent before that.
 */
export class List<Entry> extends ApiPromise<Page<Entry>> implements AsyncIterable<Entry> {
  constructor(
    private readonly read: ReadPage<Entry>,
    private readonly query: PageQuery = {},
  ) {
    super(() => readPage(read, query));
  }

  /**
   * The pages, one request each. The default page size is the largest, because each page counts as a request.
   * @throws whatever reading a page throws
   */
  async *pages(): AsyncGenerator<Page<Entry>, void, undefined> {
    const first = await readPage(this.read, { limit: MAX_PAGE_SIZE, ...this.query });
    for (let page: Page<Entry> | undefined = first.data; page; page = await page.next()) {
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    for await (const page of this.pages()) {
      yield* page;
    }
  }
}

/** The responses link to the next page as long as there is one (RFC 8288, `rel="next"`). */
async function readPage<Entry>(read: ReadPage<Entry>, query: PageQuery): Promise<ApiResponse<Page<Entry>>> {
  const { data, response } = await read(query);
  const cursor = nextCursor(response.headers);
  const next = async () =>
    cursor === undefined ? undefined : (await readPage(read, { ...query, cursor })).data;
  // Not enumerable, so that a page is printed and compared like any array. There are no data after a 304.
  const page = data && Object.defineProperty(data, 'next', { value: next });
  return { data: page as Page<Entry>, response };
}

/**
 * The cursor of the next page; undefined on the last page. Only the cursor is taken from the link: the key must not be
 * sent to another host, and the service may not know the path prefix of a proxy.
 */
export function nextCursor(headers: Headers): string | undefined {
  const [, query] = linkTo('next', headers)?.split('?') ?? [];
  return new URLSearchParams(query).get('cursor') ?? undefined;
}

/** The target of a `Link` field (RFC 8288), as the service writes it: `</pets?cursor=a>; rel="next"`. */
export function linkTo(relation: string, headers: Headers): string | undefined {
  const links = (headers.get('link') ?? '').matchAll(/<([^<>]*)>;\s*rel="([^"]*)"/g);
  return [...links].find(([, , name]) => name === relation)?.[1];
}
