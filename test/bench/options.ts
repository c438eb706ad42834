import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { TOOLS, type ToolName } from './harness/load';
import { UPDATES } from './harness/databases';
import { ROOT } from '../support/files';
import { findProgram } from '../support/programs';
import type { PeerName } from './contenders';
import { OPERATIONS, type WorkloadName, describedAs } from './workloads';

const ALONE = ['limiter', 'clients', 'soak'] as const;
const GROUPS: Record<string, WorkloadName[]> = {
  reads: OPERATIONS.filter((name) => describedAs(name).kind === 'read'),
  writes: OPERATIONS.filter((name) => describedAs(name).kind === 'write'),
};
const DEFAULT_PARTS: readonly Part[] = [...OPERATIONS, 'fairness'];
export const PARTS: readonly Part[] = [...DEFAULT_PARTS, ...ALONE];
export type Part = WorkloadName | 'fairness' | (typeof ALONE)[number];

const PEERS: readonly PeerName[] = ['hand-written', 'conventional-nest'];

/** What stands beside the service: its peers, or itself in memory or with few pets. */
export type Against = 'peers' | 'redis' | 'scale';

export interface Options {
  help: boolean;
  quick: boolean;
  only: readonly Part[];
  peers: readonly PeerName[];
  against: Against;
  /** The checkout whose service is measured, and another one to be measured beside it. */
  service: string;
  before: string | undefined;
  /** Statements are prepared on nearly empty tables, which grow before anything is measured. */
  aged: boolean;
  connections: number;
  delayMs: number;
  pairs: number;
  /** Of each run. */
  seconds: number;
  warmUpSeconds: number;
  /** How many pets are many, and how many clients. */
  manyPets: number;
  clients: number;
  /** How long the service is watched under load. */
  soakMinutes: number;
  tool: ToolName;
  /** Checked by whoever is told it. */
  logLevel: string;
  /** Where the figures are written as JSON. */
  json: string | undefined;
}

/** The arguments are not what the benchmark takes; the message says what it does. */
export class UsageError extends Error {}

/** A 429 has to hold for the whole of a run, and lasts a minute at the most. */
const MOST_SECONDS = 30;
const MOST_MINUTES = 24 * 60;
const CONNECTIONS = 32;

export const HELP = `Usage: npm run bench -- [options]

Measures the service beside its peers, round by round, and prints requests per second, ratios, latencies and goals.

  --quick             3 rounds of 1 second, fewer pets and clients
  --only LIST         of reads, writes,
                      ${PARTS.join(', ').replace(/(.{70,90}), /g, '$1,\n                      ')}
                      (default: all but ${ALONE.join(', ')})
  --peers LIST        of ${PEERS.join(', ')} (default: both)
  --service DIR       the checkout whose service is measured (default: this one)
  --before DIR        another checkout, whose service is measured in the same rounds
  --connections N     that send at the same time (default: ${CONNECTIONS}); 1 is a single caller
  --delay MSms        how far away the database is, for everybody (default: 0ms)
  --aged              statements are prepared on nearly empty tables; then there are many pets and ${UPDATES.toLocaleString('en')} updates
  --redis             the service counting through Redis beside itself counting in memory
  --scale             the service with many pets beside itself with a thousand
  --pairs N           rounds of each operation (default: 5)
  --duration SECONDS  of each run, up to ${MOST_SECONDS} (default: 3); with --only soak, minutes (default: 10)
  --tool NAME         ${TOOLS.join(' or ')} (default: wrk where it is on the PATH)
  --log-level LEVEL   of the service and of those peers that write a log (default: info, as shipped)
  --json FILE         writes all figures to a file as well
  --help              this
`;

const FLAG = { type: 'boolean', default: false } as const;
const TEXT = { type: 'string' } as const;
const ACCEPTED = {
  help: FLAG,
  quick: FLAG,
  only: TEXT,
  peers: TEXT,
  service: TEXT,
  before: TEXT,
  connections: TEXT,
  delay: TEXT,
  aged: FLAG,
  redis: FLAG,
  scale: FLAG,
  pairs: TEXT,
  duration: TEXT,
  tool: TEXT,
  'log-level': { ...TEXT, default: 'info' },
  json: TEXT,
} as const;

/** @throws UsageError */
export function readOptions(args: string[]): Options {
  const values = parse(args);
  const { help, quick, json, aged, redis, scale } = values;
  if (Number(redis) + Number(scale) + Number(aged) > 1) {
    throw new UsageError('--redis, --scale and --aged are runs of their own.');
  }
  const named = values.only?.split(',').flatMap((name) => GROUPS[name] ?? [name]);
  const only = listOf('--only', named?.join(','), PARTS) ?? DEFAULT_PARTS;
  const soaks = only.includes('soak');
  if (soaks && only.length > 1) {
    throw new UsageError('soak runs by itself: it has durations of its own.');
  }
  return {
    help,
    quick,
    json,
    only,
    aged,
    against: redis ? 'redis' : scale ? 'scale' : 'peers',
    service: checkoutOf('--service', values.service) ?? ROOT,
    before: checkoutOf('--before', values.before),
    connections: integer('--connections', values.connections, 10_000) ?? CONNECTIONS,
    delayMs: integer('--delay', values.delay?.replace(/ms$/, ''), 999, 0) ?? 0,
    seconds: (soaks ? undefined : integer('--duration', values.duration, MOST_SECONDS)) ?? (quick ? 1 : 3),
    warmUpSeconds: quick ? 1 : 2,
    soakMinutes:
      (soaks ? integer('--duration', values.duration, MOST_MINUTES) : undefined) ?? (quick ? 1 : 10),
    manyPets: quick ? 100_000 : 1_000_000,
    clients: quick ? 10_000 : 100_000,
    peers: listOf('--peers', values.peers, PEERS) ?? PEERS,
    pairs: integer('--pairs', values.pairs, 100) ?? (quick ? 3 : 5),
    tool: toolOf(values.tool),
    logLevel: values['log-level'],
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: ACCEPTED, strict: true }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function checkoutOf(option: string, folder: string | undefined): string | undefined {
  const checkout = folder === undefined ? undefined : resolve(folder);
  if (checkout !== undefined && !existsSync(join(checkout, 'bin/petstore.js'))) {
    throw new UsageError(
      `${option} takes a checkout of the service, with a bin/petstore.js; ${folder} is none.`,
    );
  }
  return checkout;
}

function toolOf(name: string | undefined): ToolName {
  const hasWrk = findProgram({ names: ['wrk'] }) !== undefined;
  const tool = name === undefined ? (hasWrk ? 'wrk' : 'autocannon') : oneOf('--tool', name, TOOLS);
  if (tool === 'wrk' && !hasWrk) {
    throw new UsageError('wrk is not on the PATH; use --tool autocannon.');
  }
  return tool;
}

function listOf<Name extends string>(
  option: string,
  text: string | undefined,
  names: readonly Name[],
): Name[] | undefined {
  return text?.split(',').map((name) => oneOf(option, name.trim(), names));
}

function oneOf<Name extends string>(option: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) {
    throw new UsageError(`${option} takes ${names.join(', ')}, not ${JSON.stringify(text)}.`);
  }
  return found;
}

function integer(option: string, text: string | undefined, most: number, least = 1): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) {
    return value;
  }
  throw new UsageError(
    `${option} takes a whole number from ${least} to ${most}, not ${JSON.stringify(text)}.`,
  );
}
