// Operations by resource: `store.pets.get(1)`. Everything follows from the one table of names below.
import { List } from './list.ts';
import type { Answer, DataOf } from './operations.ts';
import { ROUTES } from './generated/routes.ts';
import type { operations } from './generated/schema.ts';

const RESOURCES = {
  pets: {
    list: 'listPets',
    create: 'createPet',
    get: 'getPet',
    replace: 'replacePet',
    update: 'updatePet',
    delete: 'deletePet',
  },
  categories: {
    list: 'listCategories',
    create: 'createCategory',
    get: 'getCategory',
    replace: 'replaceCategory',
    delete: 'deleteCategory',
  },
  orders: {
    list: 'listOrders',
    place: 'placeOrder',
    get: 'getOrder',
    update: 'updateOrder',
    cancel: 'cancelOrder',
  },
  inventory: { list: 'listInventory', get: 'getInventory', set: 'setInventory', adjust: 'adjustInventory' },
  webhooks: {
    list: 'listWebhooks',
    create: 'createWebhook',
    get: 'getWebhook',
    update: 'updateWebhook',
    delete: 'deleteWebhook',
    rotateSecret: 'rotateWebhookSecret',
    test: 'testWebhook',
    deliveries: 'listDeliveries',
    retry: 'retryDelivery',
  },
  account: { key: 'getKey', rateLimit: 'getRateLimit', usage: 'getUsage' },
} as const satisfies Record<string, Record<string, OperationId>>;

type OperationId = keyof operations & keyof typeof ROUTES;
type Parameters<Id extends OperationId> = operations[Id]['parameters'];

/** Options of any call. */
export interface CallOptions {
  /** Aborts the call at any stage; it then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** For a POST: the key that makes it run only once, however often it is sent. Default: a new one for each call. */
  idempotencyKey?: string;
  /** For a change: the ETag of the resource. If it has changed since, the call fails (412). */
  ifMatch?: string;
}

/** The values of a path in order: `/a/{b}/c/{d}` has `b` and `d`. */
type PathArguments<Path extends string, Values> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [id: Name extends keyof Values ? Values[Name] : never, ...rest: PathArguments<Rest, Values>]
  : [];

type BodyArguments<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { 'application/json': infer Body } };
}
  ? [body: Body]
  : (typeof ROUTES)[Id]['takesBody'] extends true
    ? [body?: OptionalBody<operations[Id]>]
    : [];

type OptionalBody<Operation> = Operation extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

type QueryArguments<Id extends OperationId> = (typeof ROUTES)[Id]['takesQuery'] extends true
  ? [query?: NonNullable<Parameters<Id>['query']>]
  : [];

type Arguments<Id extends OperationId> = [
  ...PathArguments<(typeof ROUTES)[Id]['path'], Parameters<Id>['path']>,
  ...BodyArguments<Id>,
  ...QueryArguments<Id>,
  options?: CallOptions,
];

type Result<Id extends OperationId> = (typeof ROUTES)[Id]['paged'] extends true
  ? DataOf<operations[Id]> extends (infer Entry)[]
    ? List<Entry>
    : never
  : Promise<DataOf<operations[Id]>>;

/** The operations of the document. Arguments: path parameters, then the body or the query, then options. */
export type Resources = {
  [Name in keyof typeof RESOURCES]: {
    [Verb in keyof (typeof RESOURCES)[Name]]: (typeof RESOURCES)[Name][Verb] extends infer Id extends
      OperationId
      ? (...given: Arguments<Id>) => Result<Id>
      : never;
  };
};

interface AnyInput {
  params?: { path: Record<string, unknown>; query?: object; header: Record<string, string> };
  body?: unknown;
  signal?: AbortSignal;
}

/** Sends a request described as openapi-fetch expects it. */
type Send = (method: string, path: string, input: AnyInput) => Promise<Answer<unknown>>;

/** @param readPages reads the pages of a list on demand */
export function resourcesOver(
  send: Send,
  readPages: (path: string, input: AnyInput) => AsyncGenerator<unknown[], void, undefined>,
): Resources {
  const methodOf = (id: OperationId) => {
    const { method, path, paged } = ROUTES[id];
    return (...given: unknown[]): unknown => {
      const input = inputOf(id, given);
      const read = async () => (await send(method, path, input)).data;
      return paged ? new List(read as () => Promise<unknown[]>, () => readPages(path, input)) : read();
    };
  };
  const entries = Object.entries(RESOURCES).map(([name, verbs]) => {
    const methods = Object.entries(verbs).map(([verb, id]) => [verb, methodOf(id)] as const);
    return [name, Object.fromEntries(methods)] as const;
  });
  return Object.fromEntries(entries) as Resources;
}

function inputOf(id: OperationId, given: unknown[]): AnyInput {
  const { path, takesBody, takesQuery } = ROUTES[id];
  const rest = [...given];
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const values = Object.fromEntries(names.map((name) => [name, rest.shift()]));
  const body = takesBody ? rest.shift() : undefined;
  const query = takesQuery ? ((rest.shift() as object | undefined) ?? undefined) : undefined;
  const { signal, idempotencyKey, ifMatch } = (rest.shift() as CallOptions | undefined) ?? {};
  const header = {
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
  };
  return { params: { path: values, query, header }, body, signal };
}
