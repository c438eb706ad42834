// Operations by resource: `store.pets.get(1)`. Everything follows from the one table of names below.
import { ApiPromise, type ApiResponse, List, type PageQuery } from './api-promise.ts';
import type { CallInput, CallOptions, OperationId } from './call.ts';
import { ROUTES } from './generated/routes.ts';
import type { components, operations } from './generated/schema.ts';

/** The document's schemas by name: `Schemas['Pet']`. */
export type Schemas = components['schemas'];

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

type Parameters<Id extends OperationId> = operations[Id]['parameters'];

/** The values of a path in order: `/a/{b}/c/{d}` has `b` and `d`. */
type PathArguments<Path extends string, Values> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [id: Name extends keyof Values ? Values[Name] : never, ...rest: PathArguments<Rest, Values>]
  : [];

interface Content<Body> {
  content: { 'application/json': Body };
}

type BodyArguments<Id extends OperationId> = (typeof ROUTES)[Id]['takesBody'] extends true
  ? operations[Id] extends { requestBody: Content<infer Body> }
    ? [body: Body]
    : operations[Id] extends { requestBody?: Content<infer Body> }
      ? [body?: Body]
      : never
  : [];

type QueryArguments<Id extends OperationId> = (typeof ROUTES)[Id]['takesQuery'] extends true
  ? [query?: NonNullable<Parameters<Id>['query']>]
  : [];

type Arguments<Id extends OperationId> = [
  ...PathArguments<(typeof ROUTES)[Id]['path'], Parameters<Id>['path']>,
  ...BodyArguments<Id>,
  ...QueryArguments<Id>,
];

/** The body of a success; undefined for an operation that returns 204. */
type DataOf<Id extends OperationId> = operations[Id] extends { responses: { 200: Content<infer Data> } }
  ? Data
  : operations[Id] extends { responses: { 201: Content<infer Data> } }
    ? Data
    : undefined;

type Result<Id extends OperationId> = (typeof ROUTES)[Id]['paged'] extends true
  ? DataOf<Id> extends (infer Entry)[]
    ? List<Entry>
    : never
  : ApiPromise<DataOf<Id>>;

type Method<Id extends OperationId> = (
  ...given: [...Arguments<Id>, options?: Omit<CallOptions, 'ifNoneMatch'>]
) => Result<Id>;

type ConditionalMethod<Id extends OperationId> = (
  ...given: [...Required<Arguments<Id>>, options: CallOptions & { ifNoneMatch: string }]
) => ApiPromise<DataOf<Id> | undefined>;

/** The operations of the document. Arguments: path parameters, then the body or the query, then options. */
export type Resources = {
  [Name in keyof typeof RESOURCES]: {
    [Verb in keyof (typeof RESOURCES)[Name]]: (typeof RESOURCES)[Name][Verb] extends infer Id extends
      OperationId
      ? 'If-None-Match' extends keyof NonNullable<Parameters<Id>['header']>
        ? ConditionalMethod<Id> & Method<Id>
        : Method<Id>
      : never;
  };
};

type Send = (id: OperationId, input: CallInput) => Promise<ApiResponse<unknown>>;

export function resourcesOver(send: Send): Resources {
  const methodOf =
    (id: OperationId) =>
    (...given: unknown[]): ApiPromise<unknown> => {
      const input = inputOf(id, given);
      if (ROUTES[id].paged) {
        const readPage = (query: PageQuery) => send(id, { ...input, query });
        return new List(readPage as () => Promise<ApiResponse<unknown[]>>, input.query);
      }
      const promise = new ApiPromise(() => send(id, input));
      void promise.withResponse();
      return promise;
    };
  const entries = Object.entries(RESOURCES).map(([name, verbs]) => {
    const methods = Object.entries(verbs).map(([verb, id]) => [verb, methodOf(id)] as const);
    return [name, Object.fromEntries(methods)] as const;
  });
  return Object.fromEntries(entries) as unknown as Resources;
}

function inputOf(id: OperationId, given: unknown[]): CallInput {
  const { path, takesBody, takesQuery } = ROUTES[id];
  const rest = [...given];
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return {
    path: Object.fromEntries(names.map((name) => [name, rest.shift()])),
    body: takesBody ? rest.shift() : undefined,
    query: takesQuery ? (rest.shift() as object | undefined) : undefined,
    ...(rest.shift() as CallOptions | undefined),
  };
}
