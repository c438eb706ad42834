import { Agent } from 'node:http';
import { type Driving, measuredRun } from './harness/measured-run';
import { send } from './harness/send';
import type { RunningContender } from './harness/start-contender';
import { type WorkloadRequest, workload } from './workloads';

/** How long somebody waited who sends one request after another while a single client keeps the store busy. Milliseconds. */
export interface Waiting {
  contender: string;
  /** Of the busy client. */
  ordersPerSecond: number;
  waits: { what: string; goalMs: number; requests: number; p50Ms: number; p99Ms: number }[];
  complaints: string[];
}

const BUSY_CONNECTIONS = 300;
/** Some waits are long, and there have to be many. */
const LEAST_SECONDS = 8;
/** The load is at its height by then. */
const BEGIN_MS = 300;

const LOOKS = [
  {
    what: 'GET one pet',
    goalMs: 100,
    status: 200,
    request: (id: number): WorkloadRequest => ({ method: 'GET', path: `/pets/${id}` }),
  },
  {
    what: 'POST one order',
    goalMs: 250,
    status: 201,
    request: (petId: number): WorkloadRequest => ({
      method: 'POST',
      path: '/store/orders',
      body: JSON.stringify({ petId }),
    }),
  },
];

/** One client places keyed orders over hundreds of connections; another one reads and orders, each over one connection. */
export async function waitBesideBusyClient(contender: RunningContender, driving: Driving): Promise<Waiting> {
  const seconds = Math.max(driving.seconds, LEAST_SECONDS);
  const busy = { ...driving, connections: BUSY_CONNECTIONS, seconds };
  const work = await workload('post-order-keyed', contender);
  await measuredRun(contender, work, { ...busy, seconds: 1 });
  const until = performance.now() + seconds * 1_000 - BEGIN_MS;
  const running = measuredRun(contender, work, busy);
  const looking = LOOKS.map((look) => waitsOf(contender, look, until, driving.signal));
  const [{ requestsPerSecond, complaints }, ...waits] = await Promise.all([running, ...looking]);
  const wrong = waits.flatMap((one) => one.complaints);
  return {
    contender: contender.name,
    ordersPerSecond: requestsPerSecond,
    waits,
    complaints: [...unrelated(complaints), ...wrong],
  };
}

/** Counts are off by what the other client ordered and what was still under way; what has to stay as it is says enough. */
function unrelated(complaints: string[]): string[] {
  return complaints.filter((complaint) => !/^(Remaining|SELECT count)/.test(complaint));
}

async function waitsOf(
  { url, otherKey, pets }: RunningContender,
  { what, goalMs, status, request }: (typeof LOOKS)[number],
  until: number,
  signal: AbortSignal,
): Promise<Waiting['waits'][number] & { complaints: string[] }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const waits: number[] = [];
  const complaints = new Set<string>();
  for (let turn = 0; performance.now() < until; turn += 1) {
    const startedAt = performance.now();
    const answer = await send(url, request((turn % pets) + 1), { 'X-API-Key': otherKey }, signal, agent);
    waits.push(performance.now() - startedAt);
    if (answer.status !== status) {
      complaints.add(`${what} answered ${answer.status}: ${answer.text}`);
    }
  }
  agent.destroy();
  const sorted = waits.sort((one, other) => one - other);
  const percentile = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
  const figures = { requests: waits.length, p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
  return { what, goalMs, ...figures, complaints: [...complaints] };
}
