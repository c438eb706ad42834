import { isDeepStrictEqual } from 'node:util';
import { PETS, petOf } from './harness/databases';

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
  /** Whether this is the right answer to the first request. A refusal's body is each contender's own. */
  isRight: (body: unknown) => boolean;
}

const PET_IDS = Array.from({ length: PETS }, (_none, index) => index + 1);
const FIRST_PAGE = PET_IDS.slice(0, 20).map(petOf);
const HEALTHY = { status: 'ok' };

function isFirstOrder(body: unknown): boolean {
  const { id, ...order } = body as Record<string, unknown>;
  return Number.isInteger(id) && isDeepStrictEqual(order, { petId: 1, quantity: 1, complete: false });
}

const WORKLOADS = {
  'get-pet': {
    title: 'GET one pet',
    requests: PET_IDS.map((id) => ({ method: 'GET', path: `/pets/${id}` })),
    counting: 'counted',
    status: 200,
    isRight: (body) => isDeepStrictEqual(body, petOf(1)),
  },
  'list-pets': {
    title: 'GET 20 pets',
    requests: [{ method: 'GET', path: '/pets?limit=20' }],
    counting: 'counted',
    status: 200,
    isRight: (body) => isDeepStrictEqual(body, FIRST_PAGE),
  },
  'post-order': {
    title: 'POST an order',
    requests: PET_IDS.map((petId) => ({
      method: 'POST',
      path: '/store/orders',
      body: JSON.stringify({ petId }),
    })),
    counting: 'counted',
    status: 201,
    isRight: isFirstOrder,
  },
  'too-many-requests': {
    title: 'a 429',
    // Without a key, and so by address: a key that goes on after its refusals would be banned.
    requests: [{ method: 'GET', path: '/pets/1' }],
    counting: 'refused',
    status: 429,
    isRight: () => true,
  },
  'fixed-json': {
    title: 'fixed JSON',
    requests: [{ method: 'GET', path: '/health/live' }],
    counting: 'never',
    status: 200,
    isRight: (body) => isDeepStrictEqual(body, HEALTHY),
  },
} satisfies Record<string, Omit<Workload, 'name'>>;

export type WorkloadName = keyof typeof WORKLOADS;

export const WORKLOAD_NAMES = Object.keys(WORKLOADS) as WorkloadName[];

export function workload(name: WorkloadName): Workload {
  return { name, ...WORKLOADS[name] };
}
