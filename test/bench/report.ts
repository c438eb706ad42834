import { cpus } from 'node:os';
import type { Waiting } from './fairness';
import type { Comparison, Measured } from './harness/pairs';
import type { Spread } from './harness/statistics';
import type { LimiterFigures } from './limiter';
import type { ClientsFigures, SoakFigures } from './memory';
import type { Options } from './options';
import { describedAs } from './workloads';

/** Of all ratios together. */
const MEAN_GOAL = 1.2;
/** Of the service's throughput by that of conventional Nest. */
const CONVENTIONAL_GOAL = 6;
/** Of the service's slowest answers by those of the hand-written peer. */
const P99_GOAL = 1.5;
/** Of the throughput by the hand-written peer's when a single caller sends one request after another. */
const SINGLE_CALLER_GOALS = { read: 0.75, write: 0.5, other: undefined };
/** Of the service by itself: counting through Redis, and with many pets. */
const REDIS_GOAL = 0.8;
const SCALE_GOAL = 0.8;
const LIMITER_GOAL = 1_000_000;
const CLIENTS_GOAL_MB = 200;

export interface Report {
  startedAt: string;
  node: string;
  cpu: string;
  cores: number;
  options: Options;
  operations: Measured[];
  fairness: Waiting[];
  limiter?: LimiterFigures;
  clients?: ClientsFigures;
  soak?: SoakFigures;
}

export function newReport(options: Options): Report {
  return {
    startedAt: new Date().toISOString(),
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    options,
    operations: [],
    fairness: [],
  };
}

/** The report for people. */
export function describe(report: Report): string {
  const { options, node, cpu, cores, operations, fairness, limiter, clients, soak } = report;
  const { tool, connections, pairs, seconds, logLevel, delayMs, aged, manyPets } = options;
  const lines = [
    `Node ${node}, ${cores} × ${cpu}; ${tool}, ${connections} connections, ${pairs} rounds of ${seconds} s, ` +
      `log level ${logLevel}, database ${delayMs} ms away${aged ? `, aged to ${grouped(manyPets)} pets` : ''}.`,
    '',
  ];
  if (operations.length > 0) {
    lines.push(
      ...table(operations, options),
      '',
      ...meansOf(operations, options),
      ...discardedIn(operations),
    );
  }
  lines.push(
    ...fairness.flatMap(describeWaiting),
    ...(limiter ? [describeLimiter(limiter)] : []),
    ...(clients ? describeClients(clients) : []),
    ...(soak ? describeSoak(soak) : []),
  );
  return `${lines.join('\n')}\n`;
}

/** What the first peer's ratio should be at least; undefined where nobody said. */
export function goalOf(
  { workload, kind }: Pick<Measured, 'workload' | 'kind'>,
  { against, connections, peers }: Pick<Options, 'against' | 'connections' | 'peers'>,
): number | undefined {
  if (against !== 'peers') {
    return against === 'redis' ? REDIS_GOAL : SCALE_GOAL;
  }
  if (peers[0] !== 'hand-written') {
    return peers[0] && CONVENTIONAL_GOAL;
  }
  return connections === 1 ? SINGLE_CALLER_GOALS[kind] : describedAs(workload).goal;
}

function table(operations: Measured[], options: Options): string[] {
  const [first, ...others] = operations[0]!.comparisons.map(({ peer }) => peer);
  const head = `operation|service/s|${first}/s|ratio (from–to)|goal||p99 ms|p99 ratio|`.split('|');
  const rows = operations.map((measured) => {
    const [comparison, ...rest] = measured.comparisons;
    return [
      measured.title,
      ...cellsOf(comparison, goalOf(measured, options)),
      ...rest.flatMap(({ peer, figures }) => {
        const goal = peer === 'conventional-nest' && options.connections > 1 ? CONVENTIONAL_GOAL : undefined;
        return figures ? [figures.ratio.median.toFixed(2), verdict(figures.ratio.median, goal)] : ['–', ''];
      }),
    ];
  });
  return aligned([[...head, ...others.flatMap((name) => [`by ${name}`, ''])], ...rows]);
}

function cellsOf(comparison: Comparison | undefined, goal: number | undefined): string[] {
  if (!comparison?.figures) {
    return ['–', '–', '–', '', '', '', '', ''];
  }
  const { subject, peer, ratio } = comparison.figures;
  const slower = subject.p99Ms / peer.p99Ms;
  return [
    grouped(subject.requestsPerSecond),
    grouped(peer.requestsPerSecond),
    `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`,
    goal?.toFixed(2) ?? '',
    verdict(ratio.median, goal),
    `${subject.p99Ms.toFixed(1)}, ${peer.p99Ms.toFixed(1)}`,
    slower.toFixed(2),
    verdict(P99_GOAL, slower),
  ];
}

function verdict(value: number, goal: number | undefined): string {
  return goal === undefined ? '' : value >= goal ? 'met' : 'missed';
}

/** The mean of the operations that have a goal; of the ratios, and as factors. */
function meansOf(operations: Measured[], options: Options): string[] {
  const ratios = operations
    .filter((measured) => measured.comparisons[0]?.figures && goalOf(measured, options) !== undefined)
    .map(({ comparisons }) => comparisons[0]!.figures!.ratio.median);
  if (ratios.length < 2) {
    return [];
  }
  const meanOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const mean = meanOf(ratios);
  const geometric = Math.exp(meanOf(ratios.map(Math.log)));
  const goal = options.against === 'peers' && options.connections > 1 ? MEAN_GOAL : undefined;
  const judged = goal === undefined ? '' : `; goal ${goal}: ${verdict(mean, goal)}`;
  return [
    `Mean of ${ratios.length} ratios: ${mean.toFixed(2)} (geometric ${geometric.toFixed(2)})${judged}.`,
    '',
  ];
}

function aligned(rows: string[][]): string[] {
  const widths = rows[0]!.map((_title, column) => Math.max(...rows.map((row) => row[column]!.length)));
  // The operation stands to the left, and so do the verdicts, which have no title.
  const toTheLeft = rows[0]!.map((title, column) => column === 0 || title === '');
  return rows.map((row) =>
    row
      .map((text, column) =>
        toTheLeft[column] ? text.padEnd(widths[column]!) : text.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
}

function discardedIn(operations: Measured[]): string[] {
  const lines = operations.flatMap(({ title, discarded }) =>
    discarded.map((complaint) => `  ${title}, ${complaint}`),
  );
  return lines.length === 0 ? [] : ['Runs that do not count:', ...lines, ''];
}

function describeWaiting({ contender, ordersPerSecond, waits, complaints }: Waiting): string[] {
  const times = waits.map(
    ({ what, goalMs, requests, p50Ms, p99Ms }) =>
      `${what} p50 ${p50Ms.toFixed(1)} ms (goal ${goalMs}: ${verdict(goalMs, p50Ms)}), p99 ${p99Ms.toFixed(1)} ms, ${requests} requests`,
  );
  const busy = `${contender}, beside a client with ${grouped(ordersPerSecond)} keyed orders/s`;
  return [`${busy}: ${times.join('; ')}.`, ...complained(complaints)];
}

function complained(complaints: string[]): string[] {
  return complaints.map((complaint) => `  Not as it should be: ${complaint}`);
}

function describeLimiter({ clients, decisionsPerSecond, bytesPerClient }: LimiterFigures): string {
  const { median, min, max } = decisionsPerSecond;
  return (
    `The limiter alone, ${grouped(clients)} clients: ${grouped(median)} decisions/s ` +
    `(${grouped(min)}–${grouped(max)}, goal ${grouped(LIMITER_GOAL)}), ${grouped(bytesPerClient)} bytes per client.`
  );
}

function describeClients(figures: ClientsFigures): string[] {
  const { clients, requests, requestsPerSecond, rssBytes, rssBytesInUse, heapBytesInUse } = figures;
  return [
    `${grouped(clients)} clients, ${requests} requests each (${grouped(requestsPerSecond)}/s): ` +
      `the process grew by ${megabytes(rssBytes)} MB, and without its garbage by ${megabytes(rssBytesInUse)} MB ` +
      `(goal ${CLIENTS_GOAL_MB}); a client takes ${Math.round(heapBytesInUse / clients)} bytes.`,
    ...complained(figures.complaints),
  ];
}

function describeSoak(figures: SoakFigures): string[] {
  const { minutes, requestsPerSecond, rssBytes, heapBytes, rssKibPerMinute, heapKibPerMinute } = figures;
  const spread = ({ median, min, max }: Spread) =>
    `${megabytes(median)} (${megabytes(min)}–${megabytes(max)}) MB`;
  const slope = (value: number) => `${value < 0 ? '' : '+'}${grouped(value)} KiB/min`;
  return [
    `${minutes} minutes of orders and reads at ${grouped(requestsPerSecond)}/s; in the second half ` +
      `memory ${spread(rssBytes)}, ${slope(rssKibPerMinute)}; heap ${spread(heapBytes)}, ${slope(heapKibPerMinute)}.`,
    ...complained(figures.complaints),
  ];
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString('en');
}
