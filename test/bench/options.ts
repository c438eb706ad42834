import { parseArgs } from 'node:util';
import { TOOLS, type ToolName } from './harness/load';
import { findOnPath } from './harness/program';

const COMPARISONS = ['get-pet', 'list-pets', 'post-order', 'too-many-requests', 'fixed-json'] as const;
const DEFAULT_PARTS = [...COMPARISONS, 'redis', 'scale', 'limiter', 'clients'] as const;
export const PARTS = [...DEFAULT_PARTS, 'soak'] as const;
export type Part = (typeof PARTS)[number];

export const PEERS = ['hand-written', 'conventional-nest', 'conventional-nest-fastify', 'bare-node'] as const;
export type Peer = (typeof PEERS)[number];

export interface Options {
  help: boolean;
  quick: boolean;
  only: readonly Part[];
  peers: readonly Peer[];
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

const DEFAULT_PEERS: readonly Peer[] = ['hand-written', 'conventional-nest', 'bare-node'];
/** A 429 has to hold for the whole of a run, and lasts a minute at the most. */
const MOST_SECONDS = 30;
const MOST_MINUTES = 24 * 60;

export const HELP = `Usage: npm run bench -- [options]

Measures the service against its peers, in pairs of runs, and prints requests per second, latencies and ratios.

  --quick             about four minutes: 3 pairs of 1 second, fewer pets and clients
  --only LIST         of ${COMPARISONS.join(', ')},
                      ${PARTS.slice(COMPARISONS.length).join(', ')} (default: all but soak)
  --peers LIST        of ${PEERS.join(', ')}
                      (default: ${DEFAULT_PEERS.join(',')})
  --pairs N           pairs of runs for each comparison (default: 5)
  --duration SECONDS  of each run, up to ${MOST_SECONDS} (default: 5); with --only soak, minutes (default: 10)
  --tool NAME         ${TOOLS.join(' or ')} (default: wrk where it is on the PATH)
  --log-level LEVEL   of the service and of those peers that write a log (default: info, as shipped)
  --json FILE         writes all figures to a file as well
  --help              this
`;

const ACCEPTED = {
  help: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  peers: { type: 'string' },
  pairs: { type: 'string' },
  duration: { type: 'string' },
  tool: { type: 'string' },
  'log-level': { type: 'string', default: 'info' },
  json: { type: 'string' },
} as const;

/** @throws UsageError */
export function readOptions(args: string[]): Options {
  const values = parse(args);
  const { help, quick, json } = values;
  const only = listOf('--only', values.only, PARTS) ?? DEFAULT_PARTS;
  return {
    help,
    quick,
    json,
    only,
    ...durationsOf(values.duration, only, quick),
    manyPets: quick ? 100_000 : 1_000_000,
    clients: quick ? 10_000 : 100_000,
    peers: listOf('--peers', values.peers, PEERS) ?? DEFAULT_PEERS,
    pairs: integer('--pairs', values.pairs, 100) ?? (quick ? 3 : 5),
    tool: toolOf(values.tool),
    logLevel: values['log-level'],
  };
}

function durationsOf(
  duration: string | undefined,
  only: readonly Part[],
  quick: boolean,
): Pick<Options, 'seconds' | 'warmUpSeconds' | 'soakMinutes'> {
  const soaks = only.includes('soak');
  if (soaks && only.length > 1) {
    throw new UsageError('soak runs by itself: it has durations of its own.');
  }
  return {
    seconds: (soaks ? undefined : integer('--duration', duration, MOST_SECONDS)) ?? (quick ? 1 : 5),
    warmUpSeconds: quick ? 1 : 3,
    soakMinutes: (soaks ? integer('--duration', duration, MOST_MINUTES) : undefined) ?? (quick ? 1 : 10),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: ACCEPTED, strict: true }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function toolOf(name: string | undefined): ToolName {
  const hasWrk = findOnPath('wrk') !== undefined;
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

function integer(option: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most) {
    throw new UsageError(`${option} takes a whole number from 1 to ${most}, not ${JSON.stringify(text)}.`);
  }
  return value;
}
