import createClient, { type RequestBodyOption, createQuerySerializer } from 'openapi-fetch';
import { NoAnswer, PetStoreError, nextCursor } from './errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { operations } from './generated/schema.ts';
import type { StoreEvent } from './generated/types.ts';
import { type AttemptOptions, type RetryOptions, retryingFetch, sleep } from './retrying-fetch.ts';

export interface PetStoreOptions extends RetryOptions {
  /** The address of the service: `https://petstore.example`, with a path prefix if it has one. */
  baseUrl: string;
  /** Sent as `X-API-Key`. It never appears in URLs, errors or printed objects. */
  apiKey: string;
}

/** With `exactOptionalPropertyTypes`, too, what is undefined counts as left out. */
type OrUndefined<Fields> = {
  [Name in keyof Fields]: Fields[Name] | (object extends Pick<Fields, Name> ? undefined : never);
};

/** The options that every call takes. An option that is left out has the value of the client's own options. */
export interface CallOptions extends AttemptOptions {
  signal?: AbortSignal | undefined;
  /** Sent with a POST. Default: a new key for each call. */
  idempotencyKey?: string | undefined;
}

/** What an operation takes, by the OpenAPI document: `path`, `query`, `header` and `body`. */
export type Input<Name extends keyof operations> = {
  [Part in keyof operations[Name]['parameters']]: OrUndefined<operations[Name]['parameters'][Part]>;
} & RequestBodyOption<operations[Name]> &
  CallOptions;

/** One page of a list. */
export interface Page<Item> {
  data: Item[];
  /** The `cursor` of the next page; absent on the last one. The feed of events always has one. */
  next: string | undefined;
  /** Status and header fields; the body has been read. */
  response: Response;
}

type Success<Responses> = Responses[keyof Responses & (200 | 201 | 202 | 204)];
type Body<Response> = Response extends { content: { 'application/json': infer Json } } ? Json : undefined;
type Result<Data> = Data extends (infer Item)[] ? Page<Item> : { data: Data; response: Response };

type Call<Name extends keyof operations> = (
  ...input: object extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>]
) => Promise<Result<Body<Success<operations[Name]['responses']>>>>;

/** The operations of the OpenAPI document by name. All resolve with `data` and `response`, a list with the cursor `next` as well. */
export type PetStoreClient = { readonly [Name in keyof typeof OPERATIONS]: Call<Name> } & {
  /**
   * The pages of the feed, and new ones as events occur, through restarts and limits, until you leave the loop or the
   * signal aborts. Once you have processed a page, its `next` is where to continue after a restart.
   */
  followEvents(input?: Input<'listEvents'>): AsyncGenerator<Page<StoreEvent>, void, undefined>;
};

/** The least time between two requests for the feed, if the first one returned no events. */
const MIN_PAUSE_MS = 1_000;

type AnyAnswer = { data?: unknown; error?: unknown; response: Response };
type AnyInput = CallOptions & {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  header?: Record<string, string>;
  body?: unknown;
};

/**
 * Creates an SDK client of the Pet Store service. Use one per key, because it holds back calls after a 429.
 * @throws TypeError for an address or a key that cannot be used
 */
export function createPetStoreClient({ baseUrl, apiKey, ...retryOptions }: PetStoreOptions): PetStoreClient {
  const key = apiKey?.trim();
  assertUsable(baseUrl, key);
  const fetch = retryingFetch(retryOptions);
  const headers = { 'X-API-Key': key };
  // The service never redirects, and the key must not follow a foreign redirect.
  const { request } = createClient({ baseUrl, headers, redirect: 'manual', querySerializer });

  const calls = Object.entries(OPERATIONS).map(([name, [method, path, needsBody]]) => {
    const call = async (input: AnyInput = {}) => {
      const { body, signal, header, path: values, query } = input;
      for (const [, part = ''] of path.matchAll(/{(\w+)}/g)) {
        if ((values?.[part] ?? '') === '') throw new TypeError(`${name}: path.${part} is missing.`);
      }
      if (needsBody && (body ?? null) === null) throw new TypeError(`${name}: body is missing.`);
      // Browsers offer `crypto.randomUUID` only on secure pages.
      const newKey = crypto.getRandomValues(new Uint32Array(4)).join('-');
      const givenKey = input.idempotencyKey ?? header?.['Idempotency-Key'];
      const idempotencyKey = method === 'post' ? (givenKey ?? newKey) : undefined;
      const init = {
        params: { path: values, query, header: { ...header, 'Idempotency-Key': idempotencyKey } },
        body,
        signal,
        fetch: (ready: Request) => fetch(ready, input),
      };
      const operation = `${method.toUpperCase()} ${path}`;
      const answered = request(method as never, path as never, init as never) as Promise<AnyAnswer>;
      const { data, error, response } = await answered.catch((cause: unknown) => {
        signal?.throwIfAborted();
        const isAnswer = cause instanceof NoAnswer || (cause as Error).name === 'SyntaxError';
        // A request that cannot be made is a mistake of the caller.
        throw isAnswer ? new PetStoreError(operation, idempotencyKey, undefined, undefined, cause) : cause;
      });
      if (!response.ok) throw new PetStoreError(operation, idempotencyKey, response, error);
      return Array.isArray(data)
        ? { data: data as unknown[], next: nextCursor(response.headers), response }
        : { data, response };
    };
    return [name, call] as const;
  });
  const store = Object.fromEntries(calls) as unknown as PetStoreClient;
  const followEvents = (input: Input<'listEvents'> = {}) => follow(store.listEvents, retryOptions, input);
  return { ...store, followEvents };
}

/** Errors from fetch would quote the key, and a password in the address. */
function assertUsable(baseUrl: string, apiKey: string | undefined): void {
  if (!apiKey) {
    throw new TypeError('apiKey is missing. Is the variable that you read it from set?');
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be printable ASCII without spaces.');
  }
  const page = (globalThis as { location?: { href: string } }).location?.href;
  const url = URL.canParse(baseUrl, page) ? new URL(baseUrl, page) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new TypeError(
      'baseUrl must be an http or https address without a user, such as https://petstore.example.',
    );
  }
}

/** An empty array is sent as an empty value, which the service refuses: left out, it would ask for everything. */
function querySerializer(query: Record<string, unknown>): string {
  const given = Object.entries(query).map(([name, value]) => [name, String(value) === '' ? '' : value]);
  return createQuerySerializer()(Object.fromEntries(given));
}

/** All entries of a list, a hundred on a page: `all(store.listPets, { query: { status: ['sold'] } })`. @throws the signal's reason */
export async function* all<
  Item,
  Given extends [
    input?: {
      query?: { limit?: number | undefined; cursor?: string | undefined };
      signal?: AbortSignal | undefined;
    },
  ],
>(list: (...input: Given) => Promise<Page<Item>>, ...[input]: Given): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  let next = input?.query?.cursor;
  do {
    cursor = next;
    const query = { limit: 100, ...input?.query, cursor };
    const page = await list(...([{ ...input, query }] as unknown as Given));
    for (const item of page.data) {
      input?.signal?.throwIfAborted();
      yield item;
    }
    next = page.next;
    // At the end of the feed of events, the next page is the same again.
  } while (next !== undefined && next !== cursor);
}

/** The pages of the feed. @throws PetStoreError for errors that do not pass; the signal's reason */
export async function* follow(
  list: (input: Input<'listEvents'>) => Promise<Page<StoreEvent>>,
  { onRetry, sleep: pause = sleep, now = () => performance.now() }: RetryOptions,
  { query, signal = new AbortController().signal, ...options }: Input<'listEvents'>,
): AsyncGenerator<Page<StoreEvent>, void, undefined> {
  let cursor = query?.cursor;
  for (;;) {
    // The first request, from `now`, does not wait: a caller who stops during the wait would have no cursor to continue from.
    const wait = cursor === 'now' ? 0 : (query?.wait ?? 25);
    const input = {
      maxWaitSeconds: Infinity,
      ...options,
      query: { limit: 100, ...query, wait, cursor },
      signal,
    };
    const askedAt = now();
    const page = await list(input).catch(passing);
    if (page instanceof PetStoreError) {
      const { operation, status, message, retryAfterSeconds: waitSeconds = 1 } = page;
      onRetry?.({ operation, waitSeconds, status, reason: message });
      await pause(waitSeconds * 1_000, signal);
      continue;
    }
    const isNew = page.data.length > 0 || page.next !== cursor;
    const goesOn = page.data.length > 0 && page.next !== undefined && page.next !== cursor;
    cursor = page.next ?? cursor;
    if (isNew) yield page;
    // A service that is stopping, or a proxy that does not know `wait`, responds immediately. The pause keeps requests apart.
    if (!goesOn && now() - askedAt < MIN_PAUSE_MS) await pause(MIN_PAUSE_MS, signal);
  }
}

function passing(error: unknown): PetStoreError {
  const { status = 400 } = error as Partial<PetStoreError>;
  if (error instanceof PetStoreError && (status === 0 || status === 429 || status >= 500)) return error;
  throw error;
}
