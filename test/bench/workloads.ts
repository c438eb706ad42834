import { isDeepStrictEqual } from 'node:util';
import { petOf } from './harness/databases';

export interface WorkloadRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

/**
 * How the answers are counted: against the client's limits, so that `Remaining` goes down by one for each; not at all;
 * or refused, because the address has used up its minute.
 */
export type Counting = 'counted' | 'never' | 'refused';

export interface Workload {
  name: string;
  title: string;
  /** Sent in turn. */
  requests: readonly WorkloadRequest[];
  counting: Counting;
  status: number;
  /** Of the other requests, where theirs is not the first one's. */
  laterStatus?: number;
  /** Whether this is the right answer to the first request. A refusal's body is each contender's own. */
  isRight: (body: unknown) => boolean;
}

/** Requests that differ; where there are more pets, theirs are as far apart as they can be. */
const VARIETY = 1_000;
/** Fewer, so that those from the second half of a thousand pets differ, too: reads that are equal are shared. */
const PAGES = 400;
const PAGE = 20;

const HEALTHY = { status: 'ok' };

type Described = Omit<Workload, 'name'>;

function idsOf(pets: number, length = VARIETY): number[] {
  return Array.from({ length }, (_none, index) => Math.floor((index * pets) / length) + 1);
}

/** The pets of the page that follows an id. */
function pageAfter(id: number): object[] {
  return Array.from({ length: PAGE }, (_none, index) => petOf(id + index + 1));
}

/** A page with the service's own cursor. */
function pathAfter(id: number): string {
  return `/pets?limit=${PAGE}&cursor=${Buffer.from(`after:${id}`).toString('base64url')}`;
}

function isFirstOrder(body: unknown): boolean {
  const { id, ...order } = body as Record<string, unknown>;
  return Number.isInteger(id) && isDeepStrictEqual(order, { petId: 1, quantity: 1, complete: false });
}

function orderOf(petId: number): WorkloadRequest {
  return { method: 'POST', path: '/store/orders', body: JSON.stringify({ petId }) };
}

/** Each work, in a store with so many pets. */
const WORKLOADS = {
  'get-pet': (pets) => ({
    title: 'GET one pet',
    requests: idsOf(pets).map((id) => ({ method: 'GET', path: `/pets/${id}` })),
    counting: 'counted',
    status: 200,
    isRight: (body) => isDeepStrictEqual(body, petOf(1)),
  }),
  'list-pets': () => ({
    title: `GET ${PAGE} pets`,
    requests: [{ method: 'GET', path: `/pets?limit=${PAGE}` }],
    counting: 'counted',
    status: 200,
    isRight: (body) => isDeepStrictEqual(body, pageAfter(0)),
  }),
  'list-pets-deep': (pets) => ({
    title: `GET ${PAGE} pets further on`,
    requests: idsOf(pets / 2 - PAGE, PAGES).map((id) => ({ method: 'GET', path: pathAfter(pets / 2 + id) })),
    counting: 'counted',
    status: 200,
    isRight: (body) => isDeepStrictEqual(body, pageAfter(pets / 2 + 1)),
  }),
  'post-order': (pets) => ({
    title: 'POST an order',
    requests: idsOf(pets).map(orderOf),
    counting: 'counted',
    status: 201,
    isRight: isFirstOrder,
  }),
  mixed: (pets) => ({
    title: 'orders and reads',
    requests: idsOf(pets).flatMap((id) => [
      orderOf(id),
      { method: 'GET', path: `/pets/${id}` },
      { method: 'GET', path: `/pets?limit=${PAGE}&status=available` },
      { method: 'GET', path: `/store/inventory/${id}` },
      { method: 'GET', path: `/store/orders?petId=${id}` },
    ]),
    counting: 'counted',
    status: 201,
    laterStatus: 200,
    isRight: isFirstOrder,
  }),
  'too-many-requests': () => ({
    title: 'a 429',
    // Without a key, and so by address: a key that goes on after its refusals would be banned. Not of the deprecated
    // operation, whose refusals say so in three more fields, which the hand-written peer leaves out.
    requests: [{ method: 'GET', path: `/pets?limit=${PAGE}` }],
    counting: 'refused',
    status: 429,
    isRight: () => true,
  }),
  'fixed-json': () => ({
    title: 'fixed JSON',
    requests: [{ method: 'GET', path: '/health/live' }],
    counting: 'never',
    status: 200,
    isRight: (body) => isDeepStrictEqual(body, HEALTHY),
  }),
} satisfies Record<string, (pets: number) => Described>;

export type WorkloadName = keyof typeof WORKLOADS;

export function workload(name: WorkloadName, pets: number): Workload {
  return { name, ...WORKLOADS[name](pets) };
}
