import { join } from 'node:path';
import { ROOT } from '../support/files';
import { COLLECT_GARBAGE, RUN } from './harness/program';

/** One implementation of the service's work, as a process of its own. */
export interface Contender {
  name: string;
  title: string;
  /** Arguments of node. */
  args: string[];
  /** The service's command line, which makes its database; absent for a peer. */
  petstore?: string;
  /** Variables of its own. */
  environment?: Record<string, string>;
  /** It counts together with others, through Redis. */
  needsRedis?: boolean;
  /** Its database has many times as many pets as the others'. */
  hasManyPets?: boolean;
  /** Its statements are prepared on tables that are nearly empty and grow afterwards. */
  aged?: boolean;
  /** Header fields that every counted answer carries, in lower case; `remaining` is one of them. */
  headers: string[];
  remaining: string;
  retryAfter: string;
  /** A 304 does not count. */
  refunds: boolean;
  /** The status that the body of a refusal tells. */
  statusTold: (body: Record<string, unknown>) => unknown;
  /** What stands for an id in the query of the page that follows it. */
  cursorAfter: (id: number) => string;
}

const OURS = {
  headers: [
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'ratelimit-policy',
    'ratelimit',
    'x-request-id',
  ],
  remaining: 'x-ratelimit-remaining',
  retryAfter: 'retry-after',
  refunds: true,
  statusTold: (body: Record<string, unknown>) => body.status,
};

/** The throttler of the documentation names its header fields after the windows, tells of each, and gives nothing back. */
const THROTTLER = {
  headers: ['minute', 'day'].flatMap((window) => [
    `x-ratelimit-limit-${window}`,
    `x-ratelimit-remaining-${window}`,
    `x-ratelimit-reset-${window}`,
  ]),
  remaining: 'x-ratelimit-remaining-day',
  retryAfter: 'retry-after-minute',
  refunds: false,
  statusTold: (body: Record<string, unknown>) => body.statusCode,
};

export type PeerName = 'hand-written' | 'conventional-nest';

export function peer(name: PeerName): Contender {
  const args = [RUN, join(ROOT, 'test/bench/peers', name, 'main.ts')];
  return name === 'hand-written'
    ? { name, title: 'Fastify and pg, by hand', args, cursorAfter: String, ...OURS }
    : { name, title: 'conventional Nest (Express, TypeORM)', args, cursorAfter: String, ...THROTTLER };
}

/** The service of a checkout. */
export function service(checkout: string, more: Partial<Contender> = {}): Contender {
  const petstore = join(checkout, 'bin/petstore.js');
  const cursorAfter = (id: number) => Buffer.from(`after:${id}`).toString('base64url');
  const described = { name: 'service', title: 'the service', args: [petstore, 'serve'], petstore };
  return { ...described, cursorAfter, ...OURS, ...more };
}

/** The service with its garbage collected when asked. */
export function collectingService(checkout: string): Contender {
  const { args, ...contender } = service(checkout, { name: 'service-collecting' });
  return { ...contender, args: ['--require', COLLECT_GARBAGE, ...args] };
}
