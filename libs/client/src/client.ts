import createClient, { createQuerySerializer } from 'openapi-fetch';
import { NoAnswer, PetStoreError, nextCursor } from './errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { operations } from './generated/schema.ts';
import type { StoreEvent } from './generated/types.ts';
import { type Input, type Page, follow } from './pages.ts';
import { type RetryOptions, retryingFetch } from './retrying-fetch.ts';

export interface PetStoreOptions extends RetryOptions {
  /** The address of the service: `https://petstore.example`, with a path prefix if it has one. */
  baseUrl: string;
  /** Sent as `X-API-Key`. It never appears in URLs, errors or printed objects. */
  apiKey: string;
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

type AnyAnswer = { data?: unknown; error?: unknown; response: Response };
type AnyInput = { header?: Record<string, string>; body?: unknown; signal?: AbortSignal };

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
  const { request } = createClient({ baseUrl, headers, fetch, redirect: 'manual', querySerializer });

  const calls = Object.entries(OPERATIONS).map(([name, [method, path]]) => {
    const call = async ({ body, signal, header, ...params }: AnyInput = {}) => {
      // Browsers offer `crypto.randomUUID` only on secure pages.
      const newKey = crypto.getRandomValues(new Uint32Array(4)).join('-');
      const idempotencyKey = method === 'post' ? (header?.['Idempotency-Key'] ?? newKey) : undefined;
      const init = {
        params: { ...params, header: { ...header, 'Idempotency-Key': idempotencyKey } },
        body,
        signal,
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
