import { EventStream, type EventsInput } from './events.ts';
import type { CallInput, Operation, Send } from './call.ts';
import { Exchange } from './exchange.ts';
import { type EventType, OPERATIONS, type Resources } from './generated/api.ts';
import type { RateLimit } from './responses.ts';
import { type PetStoreOptions, configure } from './options.ts';
import { ApiPromise, type ApiResponse, List, type PageQuery } from './results.ts';

export type { ApiPromise, ApiResponse, CallOptions, ConditionalOptions, List, Page } from './results.ts';
export type { EventOf, EventStream, EventsInput } from './events.ts';
export type * from './generated/api.ts';
export {
  type DeprecationNotice,
  PetStoreError,
  type PetStoreErrorCode,
  type RateLimit,
} from './responses.ts';
export type { PetStoreOptions } from './options.ts';
export {
  type WebhookEvent,
  type WebhookHeaders,
  WebhookVerificationError,
  verifyWebhook,
} from './verify-webhook.ts';

/** Calls the service's operations by resource: `store.pets.list({ limit: 3 })`. */
export interface PetStoreClient extends Resources {
  /** Past events; with `follow: true`, also new events until the call is aborted. */
  events<Type extends EventType = EventType>(input?: EventsInput<Type>): EventStream<Type>;
  /** The caller's limits, as the latest response reported them; undefined before the first response. */
  readonly rateLimit: RateLimit | undefined;
}

/**
 * Creates a client of the Pet Store service. Use one per key, because it is the client that delays requests after a
 * 429.
 * @throws TypeError for an invalid option
 */
export function createPetStoreClient(options: PetStoreOptions): PetStoreClient {
  const configuration = configure(options);
  const exchange = new Exchange(configuration);
  const send: Send = (operation, input) => exchange.send(operation, input);
  return {
    ...resourcesOver(send),
    events: (input = {}) => new EventStream(send, configuration, input),
    get rateLimit() {
      return exchange.rateLimit;
    },
  };
}

type Method = Operation & { takes?: 'body' | 'query'; isPaged: boolean };

/** The operations by resource: `store.pets.get(1)`. Their types are generated; this is what they all do. */
function resourcesOver(send: Send): Resources {
  const entries = Object.entries(OPERATIONS).map(([name, methods]) => {
    const calls = Object.entries<Method>(methods).map(([verb, method]) => [verb, callsOf(method, send)]);
    return [name, Object.fromEntries(calls) as unknown] as const;
  });
  return Object.fromEntries(entries) as unknown as Resources;
}

/** Arguments: the values of the path, then the body or the query, then options. */
function callsOf(method: Method, send: Send) {
  const names = [...method.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return (...given: unknown[]): ApiPromise<unknown> => {
    const path = Object.fromEntries(names.map((name) => [name, given.shift()]));
    const taken = method.takes && { [method.takes]: given.shift() };
    const input: CallInput = { ...(given[0] as object | undefined), path, ...taken };
    if (method.isPaged) {
      const readPage = (query: PageQuery) => send(method, { ...input, query });
      return new List(readPage as () => Promise<ApiResponse<unknown[]>>, input.query);
    }
    const promise = new ApiPromise(() => send(method, input));
    void promise.withResponse();
    return promise;
  };
}
