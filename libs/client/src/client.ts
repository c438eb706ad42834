import { EventStream, type EventType, type EventsInput } from './events.ts';
import { Exchange } from './exchange.ts';
import type { RateLimit } from './header-fields.ts';
import { type PetStoreOptions, configure } from './options.ts';
import { type Resources, resourcesOver } from './resources.ts';

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
    ...resourcesOver((id, input) => exchange.send(id, input)),
    events: (input = {}) =>
      new EventStream(
        (query, signal) => exchange.send('listEvents', { query, signal }),
        configuration,
        input,
      ),
    get rateLimit() {
      return exchange.rateLimit;
    },
  };
}
