import type { RequestBodyOption } from 'openapi-fetch';
import { PetStoreError } from './errors.ts';
import type { operations } from './generated/schema.ts';
import type { StoreEvent } from './generated/types.ts';
import { type RetryOptions, sleep } from './retrying-fetch.ts';

/** With `exactOptionalPropertyTypes`, too, what is undefined counts as left out. */
type OrUndefined<Fields> = {
  [Name in keyof Fields]: Fields[Name] | (object extends Pick<Fields, Name> ? undefined : never);
};

/** What an operation takes, by the OpenAPI document: `path`, `query`, `header` and `body`. */
export type Input<Name extends keyof operations> = {
  [Part in keyof operations[Name]['parameters']]: OrUndefined<operations[Name]['parameters'][Part]>;
} & RequestBodyOption<operations[Name]> & { signal?: AbortSignal | undefined };

/** One page of a list. */
export interface Page<Item> {
  data: Item[];
  /** The `cursor` of the next page; absent on the last one. The feed of events always has one. */
  next: string | undefined;
  /** Status and header fields; the body has been read. */
  response: Response;
}

/** All entries of a list, a hundred on a page: `all(store.listPets, { query: { status: ['sold'] } })`. */
export async function* all<
  Item,
  Given extends [input?: { query?: { limit?: number | undefined; cursor?: string | undefined } }],
>(list: (...input: Given) => Promise<Page<Item>>, ...[input]: Given): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  let next = input?.query?.cursor;
  do {
    cursor = next;
    const query = { limit: 100, ...input?.query, cursor };
    const page = await list(...([{ ...input, query }] as unknown as Given));
    yield* page.data;
    next = page.next;
    // At the end of the feed of events, the next page is the same again.
  } while (next !== undefined && next !== cursor);
}

/** The pages of the feed. @throws PetStoreError for errors that do not pass; the signal's reason */
export async function* follow(
  list: (input: Input<'listEvents'>) => Promise<Page<StoreEvent>>,
  { onRetry, sleep: pause = sleep }: RetryOptions,
  { query, signal = new AbortController().signal }: Input<'listEvents'>,
): AsyncGenerator<Page<StoreEvent>, void, undefined> {
  let cursor = query?.cursor;
  for (;;) {
    // Who breaks off during a wait from `now` would have no cursor to return to.
    const wait = cursor === 'now' ? 0 : (query?.wait ?? 25);
    const page = await list({ query: { limit: 100, ...query, wait, cursor }, signal }).catch(passing);
    if (page instanceof PetStoreError) {
      const { operation, status, message, retryAfterSeconds: waitSeconds = 1 } = page;
      onRetry?.({ operation, waitSeconds, status, reason: message });
      await pause(waitSeconds * 1_000, signal);
    } else if (page.data.length > 0 || page.next !== cursor) {
      cursor = page.next;
      yield page;
    } else {
      // A service that is stopping does not wait for events.
      await pause(1_000, signal);
    }
  }
}

function passing(error: unknown): PetStoreError {
  const { status = 400 } = error as Partial<PetStoreError>;
  if (error instanceof PetStoreError && (status === 0 || status === 429 || status >= 500)) return error;
  throw error;
}
