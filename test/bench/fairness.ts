import { type Driving, measuredRun } from './harness/measured-run';
import { sendAll } from './harness/send';
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
    expected: 200,
    request: (id: number): WorkloadRequest => ({ method: 'GET', path: `/pets/${id}` }),
  },
  {
    what: 'POST one order',
    goalMs: 250,
    expected: 201,
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
  // Counts are off by what the other client ordered and what was still under way; what has to stay as it is says enough.
  const related = complaints.filter((complaint) => !/^(Remaining|SELECT count)/.test(complaint));
  return {
    contender: contender.name,
    ordersPerSecond: requestsPerSecond,
    waits,
    complaints: [...related, ...waits.flatMap((one) => one.complaints)],
  };
}

async function waitsOf(
  { url, otherKey: key, pets }: RunningContender,
  { what, goalMs, expected, request }: (typeof LOOKS)[number],
  until: number,
  signal: AbortSignal,
): Promise<Waiting['waits'][number] & { complaints: string[] }> {
  const waits: number[] = [];
  const complaints = new Set<string>();
  function* requests() {
    for (let turn = 0; performance.now() < until; turn += 1) {
      yield { request: request((turn % pets) + 1), key };
    }
  }
  await sendAll(url, requests(), 1, signal, ({ status, text, tookMs }) => {
    waits.push(tookMs);
    if (status !== expected) {
      complaints.add(`${what} answered ${status}: ${text}`);
    }
  });
  waits.sort((one, other) => one - other);
  const percentile = (part: number) => waits[Math.floor(waits.length * part)] ?? NaN;
  const figures = { requests: waits.length, p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
  return { what, goalMs, ...figures, complaints: [...complaints] };
}
