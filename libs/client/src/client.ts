import createClient, { type RequestBodyOption, createQuerySerializer } from 'openapi-fetch';
import { NoAnswer, PetStoreError, nextCursor } from './errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { operations } from './generated/schema.ts';
import type { StoreEvent } from './generated/types.ts';
import { type AttemptOptions, type RetryOptions, retryingFetch, sleep } from './retrying-fetch.ts';

export interface PetStoreOptions extends RetryOptions {
  /** The address of the service, for example `https://petstore.example`, with a path prefix if the service has one. */
  baseUrl: string;
  /** The API key, which is sent as `X-API-Key`. The key never appears in URLs, errors or printed objects. */
  apiKey: string;
}

/** Lets optional fields be `undefined`, also under TypeScript's option `exactOptionalPropertyTypes`. */
type OrUndefined<Fields> = {
  [Name in keyof Fields]: Fields[Name] | (object extends Pick<Fields, Name> ? undefined : never);
};

export interface CallOptions extends AttemptOptions {
  signal?: AbortSignal | undefined;
  /** The `Idempotency-Key` of a POST. Default: a new key for each call. */
  idempotencyKey?: string | undefined;
}

export type Input<Name extends keyof operations> = {
  [Part in keyof operations[Name]['parameters']]: OrUndefined<operations[Name]['parameters'][Part]>;
} & RequestBodyOption<operations[Name]> &
  CallOptions;

export interface Page<Item> {
  data: Item[];
  /** The `cursor` of the next page, or undefined on the last page. The feed of events always has a next page. */
  next: string | undefined;
  /** The HTTP response, for its status and header fields. Its body has already been read. */
  response: Response;
}

type Success<Responses> = Responses[keyof Responses & (200 | 201 | 202 | 204)];
type Body<Response> = Response extends { content: { 'application/json': infer Json } } ? Json : undefined;
type Result<Data> = Data extends (infer Item)[] ? Page<Item> : { data: Data; response: Response };

type Call<Name extends keyof operations> = (
  ...input: object extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>]
) => Promise<Result<Body<Success<operations[Name]['responses']>>>>;

/**
 * One method per operation of the OpenAPI document. Each method resolves with `data` and `response`, and for a list
 * also with `next`, the cursor of the next page.
 */
export type PetStoreClient = { readonly [Name in keyof typeof OPERATIONS]: Call<Name> } & {
  /**
   * Yields the pages of the event feed, and then new pages as events occur. Save the `next` of each page that you have
   * processed, so that your program can continue there after a restart.
   * @throws PetStoreError for an error that will not pass by itself, or the signal's reason once the signal aborts
   */
  followEvents(input?: Input<'listEvents'>): AsyncGenerator<Page<StoreEvent>, void, undefined>;
};

/**
 * The pause in milliseconds before the next request for the event feed, if the response took less time than this and no
 * more events follow.
 */
const MIN_PAUSE_MS = 1_000;

type AnyAnswer = { data?: unknown; error?: unknown; response: Response };
type AnyInput = CallOptions & {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  header?: Record<string, string>;
  body?: unknown;
};

/**
 * Creates an object with the methods that call the Pet Store service. Create only one such object for each API key. After a
 * 429, all calls of the object wait, because the service limits the rate of the key. A second object for the same key would
 * go on sending requests, and too many refused requests lead to a ban of the key.
 * @throws TypeError if the address or the key cannot be used
 */
export function createPetStoreClient({ baseUrl, apiKey, ...retryOptions }: PetStoreOptions): PetStoreClient {
  const key = apiKey?.trim();
  assertUsable(baseUrl, key);
  const fetch = retryingFetch(retryOptions);
  const headers = { 'X-API-Key': key };
  // Do not follow redirects: the service sends none, and following a redirect would send the API key to another server.
  const { request } = createClient({ baseUrl, headers, redirect: 'manual', querySerializer });

  const calls = Object.entries(OPERATIONS).map(([name, [method, path, needsBody, success]]) => {
    const call = async (input: AnyInput = {}) => {
      const { body, signal, header, path: values, query } = input;
      for (const [, part = ''] of path.matchAll(/{(\w+)}/g)) {
        if ((values?.[part] ?? '') === '') throw new TypeError(`${name}: path.${part} is missing.`);
      }
      if (needsBody && (body ?? null) === null) throw new TypeError(`${name}: body is missing.`);
      // Do not use `crypto.randomUUID`, which browsers offer only on secure pages (HTTPS).
      const newKey = crypto.getRandomValues(new Uint32Array(4)).join('-');
      const givenKey = input.idempotencyKey ?? header?.['Idempotency-Key'];
      const idempotencyKey = method === 'post' ? (givenKey ?? newKey) : undefined;
      let received: Response | undefined;
      // Use a signal of the call's own, because each request leaves a listener on its signal until the next garbage
      // collection. If all calls of a program left their listeners on one signal, Node would warn of a leak.
      const own = new AbortController();
      const stopFollowing = signal && abortWith(signal, own);
      const init = {
        params: { path: values, query, header: { ...header, 'Idempotency-Key': idempotencyKey } },
        body,
        signal: own.signal,
        fetch: async (ready: Request) => (received = await fetch(ready, input)),
      };
      const operation = `${method.toUpperCase()} ${path}`;
      const answered = request(method as never, path as never, init as never) as Promise<AnyAnswer>;
      const { data, error, response } = await answered
        .catch((cause: unknown) => {
          signal?.throwIfAborted();
          const isAnswer = cause instanceof NoAnswer || (cause as Error).name === 'SyntaxError';
          throw isAnswer
            ? new PetStoreError({ operation, idempotencyKey, response: received, cause })
            : cause;
        })
        .finally(stopFollowing);
      if (!response.ok || !isOfKind(data, success)) {
        throw new PetStoreError({ operation, idempotencyKey, response, body: error });
      }
      return Array.isArray(data)
        ? { data: data as unknown[], next: nextCursor(response.headers), response }
        : { data, response };
    };
    return [name, call] as const;
  });
  const store = Object.fromEntries(calls) as unknown as PetStoreClient;
  const followEvents = (input: Input<'listEvents'> = {}) => followFeed(store.listEvents, retryOptions, input);
  return { ...store, followEvents };
}

const callsOfSignals = new WeakMap<AbortSignal, Set<AbortController>>();

/**
 * Aborts a call when the signal is aborted. All calls with the same signal share one listener, because Node warns of a leak
 * if a signal has eleven listeners.
 * @returns a function to call at the end of the call
 */
function abortWith(signal: AbortSignal, call: AbortController): () => void {
  const calls = callsOfSignals.get(signal) ?? new Set();
  callsOfSignals.set(signal, calls.add(call));
  // Adding the same function again has no effect.
  signal.addEventListener('abort', abortCalls);
  if (signal.aborted) call.abort(signal.reason);
  return () => {
    calls.delete(call);
    if (calls.size === 0) signal.removeEventListener('abort', abortCalls);
  };
}

function abortCalls({ target }: Event): void {
  const signal = target as AbortSignal;
  callsOfSignals.get(signal)?.forEach((call) => call.abort(signal.reason));
}

/**
 * Checks the address and the key before they are used, because an error of `fetch` would quote the key, or a password
 * in the address.
 */
function assertUsable(baseUrl: string, apiKey: string | undefined): void {
  if (!apiKey) {
    throw new TypeError('apiKey is missing. Check that the variable with the API key is set.');
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

/** False if the response cannot be that of the service, for example the empty page of a proxy. */
function isOfKind(data: unknown, kind: 'array' | 'object' | 'nothing'): boolean {
  const isArray = Array.isArray(data);
  return (
    kind === 'nothing' || (kind === 'array' ? isArray : !isArray && typeof data === 'object' && data !== null)
  );
}

/**
 * Builds the query of a request. An empty array becomes a parameter with an empty value, such as `status=`, because
 * without the parameter the service would return all entries.
 */
function querySerializer(query: Record<string, unknown>): string {
  const given = Object.entries(query).map(([name, value]) => [name, String(value) === '' ? '' : value]);
  return createQuerySerializer()(Object.fromEntries(given));
}

/**
 * Yields all entries of a list, for example `all(store.listPets, { query: { status: ['sold'] } })`.
 * @throws the signal's reason if the signal aborts
 */
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
    // Stop at the end of the feed of events, where the cursor of the next page is the cursor of this page.
  } while (next !== undefined && next !== cursor);
}

async function* followFeed(
  list: (input: Input<'listEvents'>) => Promise<Page<StoreEvent>>,
  { onRetry, sleep: pause = sleep, now = () => performance.now() }: RetryOptions,
  { query, signal = new AbortController().signal, ...options }: Input<'listEvents'>,
): AsyncGenerator<Page<StoreEvent>, void, undefined> {
  let cursor = query?.cursor;
  for (;;) {
    // If the cursor is `now`, which is the end of the feed, do not wait for events, so that the first response comes at
    // once with a cursor. If the program stopped during a wait, it would have no cursor from which to continue.
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
    // Pause if the response came immediately and its page is empty or the last one. A service that is stopping responds
    // immediately, and without the pause it would get the next request at once.
    if (!goesOn && now() - askedAt < MIN_PAUSE_MS) await pause(MIN_PAUSE_MS, signal);
  }
}

/**
 * Returns the error of a failed request if a later request may succeed, and throws any other error. A later request may
 * succeed if there was no response (status 0), if the response was not JSON, such as a page of a proxy (status 2xx),
 * and after a 429 or 5xx.
 */
function passing(error: unknown): PetStoreError {
  const { status = 400 } = error as Partial<PetStoreError>;
  if (error instanceof PetStoreError && (status < 300 || status === 429 || status >= 500)) return error;
  throw error;
}
