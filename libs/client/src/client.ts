import createClient from 'openapi-fetch';
import { Exchange } from './exchange.ts';
import { EventStream, type EventType, type EventsInput } from './follow.ts';
import type {
  Answer,
  Caller,
  ConditionalReader,
  EntryOf,
  Input,
  ListPath,
  OperationOf,
} from './operations.ts';
import { type Configuration, type PetStoreOptions, configure } from './options.ts';
import { readPages } from './pages.ts';
import { nearest } from './nearest.ts';
import type { RateLimit } from './rate-limit.ts';
import { type Resources, resourcesOver } from './resources.ts';
import { ROUTES } from './generated/routes.ts';
import type { paths } from './generated/schema.ts';

/**
 * Calls the service's operations by resource, `store.pets.list({ limit: 3 })`, or by method and path if you need the
 * response: `store.GET('/pets', { params: { query: { limit: 3 } } })`.
 */
export interface PetStoreClient extends Resources {
  GET: ConditionalReader & Caller<'get'>;
  POST: Caller<'post'>;
  PUT: Caller<'put'>;
  PATCH: Caller<'patch'>;
  DELETE: Caller<'delete'>;
  /** The pages of a list, one request each, with 100 entries by default. */
  pages<Path extends ListPath>(
    path: Path,
    input?: Input<OperationOf<Path, 'get'>>,
  ): AsyncGenerator<EntryOf<Path>[], void, undefined>;
  /** The entries of a list; pages are requested on demand. */
  iterate<Path extends ListPath>(
    path: Path,
    input?: Input<OperationOf<Path, 'get'>>,
  ): AsyncGenerator<EntryOf<Path>, void, undefined>;
  /** Past events; with `follow: true`, also new events until the call is aborted. */
  events<Type extends EventType = EventType>(input?: EventsInput<Type>): EventStream<Type>;
  /** The caller's limits, as the latest response reported them; undefined before the first response. */
  readonly rateLimit: RateLimit | undefined;
}

/** The input of any call, as openapi-fetch accepts it. */
type AnyInput = { params?: { query?: { limit?: number; cursor?: string } } } | undefined;
type AnyCaller = (path: string, input?: AnyInput) => Promise<Answer<unknown>>;
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/**
 * Creates a client of the Pet Store service. Use one per key, because it is the client that delays requests after a
 * 429.
 * @throws TypeError for an invalid option
 */
export function createPetStoreClient(options: PetStoreOptions): PetStoreClient {
  const configuration = configure(options);
  const exchange = new Exchange(configuration);
  const caller = callersFor(configuration, exchange);
  const get = caller('get');
  const pages = (path: string, input?: AnyInput) => {
    return readPages((page) => get(path, page) as Promise<Answer<unknown[]>>, input ?? {});
  };
  const client = {
    ...resourcesOver(
      (method, path, input) => caller(method as Method)(path, input as AnyInput),
      pages as never,
    ),
    GET: get,
    POST: caller('post'),
    PUT: caller('put'),
    PATCH: caller('patch'),
    DELETE: caller('delete'),
    pages,
    async *iterate(path: string, input?: AnyInput) {
      for await (const page of pages(path, input)) {
        yield* page;
      }
    },
    events: (input: EventsInput = {}) => new EventStream(get as never, configuration, input),
    get rateLimit() {
      return exchange.rateLimit;
    },
  };
  // Only the interface has the document's types; the implementation treats all operations alike.
  return client as unknown as PetStoreClient;
}

/** Callers for the operations of a method; all share one exchange. */
function callersFor(configuration: Configuration, exchange: Exchange): (method: Method) => AnyCaller {
  const transport = createClient<paths>({
    baseUrl: configuration.baseUrl,
    headers: { 'X-API-Key': configuration.apiKey },
    // The service never redirects, and the key must not follow a foreign redirect.
    redirect: 'manual',
  });
  return (method) => async (path, input) => {
    const operation = `${method.toUpperCase()} ${path}`;
    assertKnown(operation);
    const send = (request: Request) => exchange.send(operation, request);
    const { data, response } = await transport.request(
      method,
      path as never,
      { ...input, fetch: send } as never,
    );
    return { data, response };
  };
}

const OPERATIONS = Object.values(ROUTES).map(({ method, path }) => `${method.toUpperCase()} ${path}`);

/** @throws TypeError for an unknown operation, which would only get a 404 */
function assertKnown(operation: string): void {
  if (!OPERATIONS.includes(operation)) {
    const similar = nearest(operation, OPERATIONS);
    const hint = similar === undefined ? '' : ` Did you mean ${similar}?`;
    throw new TypeError(`There is no operation ${operation}.${hint}`);
  }
}
