import { EventStream, type EventsInput } from './events.ts';
import { Exchange } from './exchange.ts';
import type { EventType, Resources } from './generated/api.ts';
import type { RateLimit } from './header-fields.ts';
import { type PetStoreOptions, configure } from './options.ts';
import { resourcesOver } from './resources.ts';

export type { ApiPromise, ApiResponse, CallOptions, ConditionalOptions, List, Page } from './calls.ts';
export { PetStoreError, type PetStoreErrorCode } from './errors.ts';
export type { EventOf, EventStream, EventsInput } from './events.ts';
export type * from './generated/api.ts';
export type { DeprecationNotice, RateLimit } from './header-fields.ts';
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
  return {
    ...resourcesOver((operation, input) => exchange.send(operation, input)),
    events: (input = {}) =>
      new EventStream((operation, call) => exchange.send(operation, call), configuration, input),
    get rateLimit() {
      return exchange.rateLimit;
    },
  };
}
