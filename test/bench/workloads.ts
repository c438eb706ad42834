import { isDeepStrictEqual } from 'node:util';
import { CATEGORIES, petOf } from './harness/databases';
import { sendAll } from './harness/send';
import type { RunningContender } from './harness/start-contender';

export interface WorkloadRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/**
 * How the answers are counted: against the client's limits, so that `Remaining` goes down by one for each; counted and given
 * back; or refused, because the address has used up its minute.
 */
export type Counting = 'counted' | 'refunded' | 'refused';

export interface Described {
  title: string;
  kind: 'read' | 'write' | 'other';
  /** Of the service's throughput by that of the hand-written peer. */
  goal?: number;
  /** Sent in turn. Where `UNIQUE` stands in one, each that is sent has a number of its own. */
  requests: (target: RunningContender) => WorkloadRequest[] | Promise<WorkloadRequest[]>;
  counting?: Counting;
  status?: number;
  /** Whether this is the right answer to the first request. A refusal's body is each contender's own. */
  isRight?: (body: Body) => boolean;
  /** Where what was written is read again, and has to be the same. */
  readBack?: (body: Body) => string;
  /** SQL of numbers that grow by one for each answer, and of those that stay. */
  grows?: string[];
  stays?: string[];
}

export interface Workload extends Required<Omit<Described, 'goal' | 'readBack' | 'requests'>> {
  name: WorkloadName;
  requests: WorkloadRequest[];
  readBack?: Described['readBack'];
}

export type Body = Record<string, unknown>;

/** Replaced, where it stands in a request, by a number of as many digits. */
export const UNIQUE = 987_654_321;

/** Requests that differ; where there are more pets, theirs are as far apart as they can be. */
const VARIETY = 1_000;
const PAGE = 20;
/** Pets whose tags are asked for before a run; more than there are connections. */
const TAGGED = 320;
const ABREAST = 16;

const BY_ID = 1.1;
const PAGES = 1.0;
const WRITE = 1.0;
const KEYED_ORDER = 0.9;

const KEYED = { 'Idempotency-Key': `00000000-0000-4000-8000-000${UNIQUE}` };
/** What a careful client sends with every request. */
const CAREFUL = {
  ...KEYED,
  Accept: 'application/json',
  'Accept-Encoding': 'gzip, deflate',
  'User-Agent': 'acme-shop/2.4 (+https://example.com)',
  'X-Request-Id': `11111111-1111-4111-8111-111${UNIQUE}`,
};

const ORDERS = 'SELECT count(*) FROM orders';
const PETS = 'SELECT count(*) FROM pets';
const RECORDS = 'SELECT count(*) FROM idempotency_records';
const STOCK = 'SELECT sum(quantity) FROM inventory';
/** What is taken from the stock is what was ordered. */
const STOCK_AND_ORDERED = '(SELECT sum(quantity) FROM inventory) + (SELECT sum(quantity) FROM orders)';
const STOCKLESS_PETS = '(SELECT count(*) FROM pets) - (SELECT count(*) FROM inventory)';

function idsOf(pets: number, length = Math.min(VARIETY, pets)): number[] {
  return Array.from({ length }, (_none, index) => Math.floor((index * pets) / length) + 1);
}

/** A request for each of many ids. */
function forEachId(request: (id: number) => WorkloadRequest): Described['requests'] {
  return ({ pets }) => idsOf(pets).map(request);
}

const get = (path: string): WorkloadRequest => ({ method: 'GET', path });
const getEach = (path: (id: number) => string) => forEachId((id) => get(path(id)));

/** Pages that follow these ids, read as the contender names them. */
function pagesAfter(path: string, ids = (pets: number) => idsOf(pets - PAGE)): Described['requests'] {
  return ({ pets, cursorAfter }) =>
    ids(pets).map((id) => get(`${path}?limit=${PAGE}&cursor=${cursorAfter(id)}`));
}

/** The entries of the page that follows an id. */
function pageAfter(id: number, entryOf: (id: number) => object): object[] {
  return Array.from({ length: PAGE }, (_none, index) => entryOf(id + index + 1));
}

const orderOf = (id: number) => ({ id, petId: id, quantity: 1, complete: false });
const stockOf = (id: number) => `/store/inventory/${id}`;
const equals = (expected: unknown) => (body: Body) => isDeepStrictEqual(body, expected);
const isStock = ({ petId, quantity, status }: Body) =>
  petId === 1 && Number.isInteger(quantity) && status === 'available';

/** A write whose goal is that of all writes unless it says another; with a key, its record is counted, too. */
function writing(title: string, { headers, body, grows = [], ...more }: Writing): Described {
  const { method = 'POST', path, ...described } = more;
  const requests = forEachId((id) => ({ method, path: path(id), headers, body: JSON.stringify(body(id)) }));
  const counted = headers ? [...grows, RECORDS] : grows;
  return { title, kind: 'write', goal: WRITE, requests, grows: counted, ...described };
}
type Writing = Omit<Described, 'title' | 'kind' | 'requests'> & {
  method?: WorkloadRequest['method'];
  path: (id: number) => string;
  body: (id: number) => object;
  headers?: Record<string, string>;
};

const order = (title: string, headers?: Record<string, string>) =>
  writing(title, {
    headers,
    goal: headers ? KEYED_ORDER : WRITE,
    path: () => '/store/orders',
    body: (petId) => ({ petId }),
    status: 201,
    isRight: ({ id, ...rest }) => Number.isInteger(id) && isDeepStrictEqual({ id: 1, ...rest }, orderOf(1)),
    readBack: ({ id }) => `/store/orders/${String(id)}`,
    grows: [ORDERS],
    stays: [STOCK_AND_ORDERED],
  });

const newPet = (title: string, headers?: Record<string, string>) =>
  writing(title, {
    headers,
    path: () => '/pets',
    body: (id) => ({ name: `Pet number ${UNIQUE}`, categoryId: petOf(id).categoryId }),
    status: 201,
    isRight: ({ name, categoryId, status }) =>
      /^Pet number \d+$/.test(String(name)) && categoryId === 1 && status === 'available',
    readBack: ({ id }) => `/pets/${String(id)}`,
    grows: [PETS],
    stays: [STOCKLESS_PETS],
  });

const adjustment = (title: string, headers?: Record<string, string>) =>
  writing(title, {
    headers,
    path: (id) => `${stockOf(id)}/adjustments`,
    body: () => ({ delta: 1 }),
    isRight: isStock,
    readBack: () => stockOf(1),
    grows: [STOCK],
  });

/** Each request of a pet is welcome in both of its states and brings about the other one, whatever was cut off before. */
async function taggedPatches(target: RunningContender): Promise<WorkloadRequest[]> {
  const ids = idsOf(target.pets, Math.min(TAGGED, target.pets));
  const patches = ['', ' again'].map((suffix) =>
    ids.map((id): WorkloadRequest => {
      const body = JSON.stringify({ name: `Pet ${id} patched${suffix}` });
      return { method: 'PATCH', path: `/pets/${id}`, body };
    }),
  );
  const tags: string[][] = [];
  for (const turn of patches) {
    tags.push(await tagsOf(target, turn));
  }
  const both = (index: number) => `${tags[0]![index]}, ${tags[1]![index]}`;
  return patches.flatMap((turn) =>
    turn.map((request, index) => ({ ...request, headers: { 'If-Match': both(index) } })),
  );
}

async function conditionalReads(target: RunningContender): Promise<WorkloadRequest[]> {
  const reads = idsOf(target.pets).map((id) => get(`/pets/${id}`));
  const tags = await tagsOf(target, reads);
  return reads.map((read, index) => ({ ...read, headers: { 'If-None-Match': tags[index]! } }));
}

/** The tags of the answers to some requests. */
async function tagsOf(
  { url, apiKey: key, signal }: RunningContender,
  requests: readonly WorkloadRequest[],
): Promise<string[]> {
  const tags = new Map<WorkloadRequest, string>();
  const asked = requests.map((request) => ({ request, key }));
  await sendAll(url, asked, ABREAST, signal, ({ headers }, request) => {
    tags.set(request, headers.etag ?? '"none"');
  });
  return requests.map((request) => tags.get(request)!);
}

function read(
  title: string,
  goal: number,
  requests: Described['requests'],
  isRight: Described['isRight'],
): Described {
  return { title, kind: 'read', goal, requests, isRight };
}

const WORKLOADS = {
  'get-pet': read(
    'GET /pets/{id}',
    1.3,
    getEach((id) => `/pets/${id}`),
    equals(petOf(1)),
  ),
  'find-pet': read(
    'GET /pets?id=',
    BY_ID,
    getEach((id) => `/pets?id=${id}`),
    equals([petOf(1)]),
  ),
  'get-category': read(
    'GET /categories/{id}',
    BY_ID,
    () => idsOf(CATEGORIES).map((id) => get(`/categories/${id}`)),
    equals({ id: 1, name: 'Category 1' }),
  ),
  'get-order': read(
    'GET /store/orders/{id}',
    BY_ID,
    getEach((id) => `/store/orders/${id}`),
    equals(orderOf(1)),
  ),
  'get-stock': read('GET /store/inventory/{petId}', BY_ID, getEach(stockOf), isStock),
  'get-unchanged': {
    ...read('GET /pets/{id}, unchanged: 304', BY_ID, conditionalReads, undefined),
    counting: 'refunded',
    status: 304,
  },
  'list-pets': read(
    'GET /pets, the same page',
    PAGES,
    () => [get(`/pets?limit=${PAGE}`)],
    equals(pageAfter(0, petOf)),
  ),
  'walk-pets': read(
    'GET /pets, page by page',
    PAGES,
    pagesAfter('/pets', (pets) => idsOf(pets - PAGE, Math.min(VARIETY, pets / PAGE - 1))),
    equals(pageAfter(1, petOf)),
  ),
  'jump-pets': read('GET /pets, pages anywhere', PAGES, pagesAfter('/pets'), equals(pageAfter(1, petOf))),
  'list-orders': read(
    'GET /store/orders, pages anywhere',
    PAGES,
    pagesAfter('/store/orders'),
    equals(pageAfter(1, orderOf)),
  ),
  'post-order': order('POST /store/orders'),
  'post-order-keyed': order('POST /store/orders, key', KEYED),
  'post-order-careful': order('POST /store/orders, key and more', CAREFUL),
  'post-pet': newPet('POST /pets'),
  'post-pet-keyed': newPet('POST /pets, key', KEYED),
  'patch-pet': writing('PATCH /pets/{id}', {
    method: 'PATCH',
    path: (id) => `/pets/${id}`,
    body: (id) => ({ name: `Pet ${id} as ${UNIQUE}` }),
    isRight: ({ id, name }) => id === 1 && /^Pet 1 as \d+$/.test(String(name)),
    readBack: () => '/pets/1',
  }),
  'patch-pet-matching': {
    title: 'PATCH /pets/{id}, If-Match',
    kind: 'write',
    goal: WRITE,
    requests: taggedPatches,
    isRight: ({ id, name }) => id === 1 && name === 'Pet 1 patched',
    readBack: () => '/pets/1',
  },
  'put-stock': writing('PUT /store/inventory/{petId}', {
    method: 'PUT',
    path: stockOf,
    body: () => ({ quantity: UNIQUE }),
    isRight: isStock,
    readBack: () => stockOf(1),
  }),
  'adjust-stock': adjustment('POST …/adjustments'),
  'adjust-stock-keyed': adjustment('POST …/adjustments, key', KEYED),
  'too-many-requests': {
    title: 'a 429',
    kind: 'other',
    // Without a key, and so by address: a key that goes on after its refusals would be banned. Not of the deprecated
    // operation, whose refusals say so in three more fields, which the hand-written peer leaves out.
    requests: () => [get(`/pets?limit=${PAGE}`)],
    counting: 'refused',
    status: 429,
  },
  mixed: {
    title: 'orders and reads',
    kind: 'other',
    requests: ({ pets }) =>
      idsOf(pets).flatMap((id) => [
        { method: 'POST', path: '/store/orders', body: JSON.stringify({ petId: id }) },
        ...[
          `/pets/${id}`,
          `/pets?limit=${PAGE}&status=available`,
          stockOf(id),
          `/store/orders?petId=${id}`,
        ].map(get),
      ]),
    status: 201,
  },
} satisfies Record<string, Described>;

export type WorkloadName = keyof typeof WORKLOADS;

/** The operations that are compared, in the order in which they are: reads first, of what no write has changed yet. */
export const OPERATIONS = Object.keys(WORKLOADS).filter((name) => name !== 'mixed') as WorkloadName[];

export function describedAs(name: WorkloadName): Described {
  return WORKLOADS[name];
}

/** What a contender is sent; prepared anew for each, because of its own tags and cursors. */
export async function workload(name: WorkloadName, target: RunningContender): Promise<Workload> {
  const described = describedAs(name);
  const { counting = 'counted', status = 200, isRight = () => true, grows = [], stays = [] } = described;
  const requests = await described.requests(target);
  return { ...described, name, requests, counting, status, isRight, grows, stays };
}
