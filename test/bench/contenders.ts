import { join } from 'node:path';
import type { Environment } from './harness/program';
import { COLLECT_GARBAGE, PETSTORE, ROOT, RUN } from './harness/program';

/** One implementation of the service's work, as a process of its own. */
export interface Contender {
  name: string;
  title: string;
  /** Arguments of node. */
  args: string[];
  environment?: Environment;
  /** It counts together with others, through Redis. */
  needsRedis?: boolean;
  /** Its database has many times as many pets as the others'. */
  hasManyPets?: boolean;
  /** Header fields that every counted answer carries, in lower case; `remaining` is one of them. */
  headers: string[];
  remaining: string;
  retryAfter: string;
  /** The status that the body of a refusal tells. */
  statusTold: (body: Record<string, unknown>) => unknown;
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
  statusTold: (body: Record<string, unknown>) => body.status,
};

/** The throttler of the documentation names its header fields after the windows, and tells of each. */
const THROTTLER = {
  headers: ['minute', 'day'].flatMap((window) => [
    `x-ratelimit-limit-${window}`,
    `x-ratelimit-remaining-${window}`,
    `x-ratelimit-reset-${window}`,
  ]),
  remaining: 'x-ratelimit-remaining-day',
  retryAfter: 'retry-after-minute',
  statusTold: (body: Record<string, unknown>) => body.statusCode,
};

function peer(path: string): string[] {
  return [RUN, join(ROOT, 'test/bench/peers', path)];
}

const CONTENDERS = {
  service: { title: 'the service', args: [PETSTORE, 'serve'], ...OURS },
  'service-redis': {
    title: 'the service with Redis',
    args: [PETSTORE, 'serve'],
    needsRedis: true,
    ...OURS,
  },
  'service-large': {
    title: 'the service with many pets',
    args: [PETSTORE, 'serve'],
    hasManyPets: true,
    ...OURS,
  },
  'service-collecting': {
    title: 'the service, with its garbage collected when asked',
    args: ['--require', COLLECT_GARBAGE, PETSTORE, 'serve'],
    ...OURS,
  },
  'hand-written': {
    title: 'Fastify and pg, by hand',
    args: peer('hand-written/main.ts'),
    ...OURS,
  },
  'conventional-nest': {
    title: 'conventional Nest (Express, TypeORM)',
    args: peer('conventional-nest/main.ts'),
    environment: { ENGINE: 'express' },
    ...THROTTLER,
  },
  'conventional-nest-fastify': {
    title: 'conventional Nest (Fastify, TypeORM)',
    args: peer('conventional-nest/main.ts'),
    environment: { ENGINE: 'fastify' },
    ...THROTTLER,
  },
  'bare-node': { title: 'bare node:http', args: peer('bare-node.ts'), ...OURS },
} satisfies Record<string, Omit<Contender, 'name'>>;

export type ContenderName = keyof typeof CONTENDERS;

export function contender(name: ContenderName): Contender {
  return { name, ...CONTENDERS[name] };
}
