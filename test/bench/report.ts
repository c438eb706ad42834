import { cpus } from 'node:os';
import type { ClientsFigures } from './clients';
import type { Comparison, Figures } from './harness/pairs';
import type { LimiterFigures } from './limiter';
import type { Options } from './options';
import { describeClients, describeSoak } from './report-memory';
import type { SoakFigures } from './soak';

/** Of the service with Redis, compared with itself without. */
const REDIS_GOAL = 0.7;
const LIMITER_GOAL = 1_000_000;
/** How many times as long a request may take with many pets. */
const SCALE_GOAL = 1.25;

export interface Report {
  startedAt: string;
  node: string;
  cpu: string;
  cores: number;
  options: Pick<Options, 'tool' | 'pairs' | 'seconds' | 'logLevel' | 'manyPets'> & { connections: number };
  comparisons: Comparison[];
  limiter?: LimiterFigures;
  clients?: ClientsFigures;
  soak?: SoakFigures;
}

export function newReport(
  { tool, pairs, seconds, logLevel, manyPets }: Options,
  connections: number,
): Report {
  return {
    startedAt: new Date().toISOString(),
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    options: { tool, pairs, seconds, logLevel, manyPets, connections },
    comparisons: [],
  };
}

/** The report for people. */
export function describe(report: Report): string {
  const { options, node, cpu, cores, comparisons, limiter, clients, soak } = report;
  const lines = [
    `Node ${node}, ${cores} × ${cpu}; ${options.tool}, ${options.connections} connections, ` +
      `${options.pairs} pairs of ${options.seconds} s, log level ${options.logLevel}.`,
    '',
  ];
  if (comparisons.length > 0) {
    lines.push(...table([HEAD, ...comparisons.map(rowOf)]), '', ...discardedIn(comparisons));
  }
  const redis = comparisons.find(({ subject }) => subject === 'service-redis')?.figures;
  if (redis) {
    lines.push(
      `Counting through Redis: ${redis.ratio.median.toFixed(2)} of the service in memory (goal ${REDIS_GOAL}).`,
    );
  }
  lines.push(
    ...comparisons.filter(({ subject }) => subject === 'service-large').map(describeScale(options.manyPets)),
  );
  if (limiter) {
    lines.push(describeLimiter(limiter));
  }
  if (clients) {
    lines.push(describeClients(clients));
  }
  if (soak) {
    lines.push(describeSoak(soak));
  }
  return `${lines.join('\n')}\n`;
}

const HEAD = ['work', 'A', 'B', 'A req/s', 'B req/s', 'A/B (from–to)', 'p50 ms A, B', 'p99 ms A, B', 'pairs'];
/** Columns of figures stand to the right. */
const FIRST_FIGURE = 3;

function rowOf({ title, subject, peer, pairs, figures }: Comparison): string[] {
  if (!figures) {
    return [title, subject, peer, '–', '–', '–', '–', '–', String(pairs)];
  }
  const { ratio } = figures;
  const both = (value: (one: Figures) => string) => `${value(figures.subject)}, ${value(figures.peer)}`;
  return [
    title,
    subject,
    peer,
    grouped(figures.subject.requestsPerSecond),
    grouped(figures.peer.requestsPerSecond),
    `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`,
    both(({ p50Ms }) => p50Ms.toFixed(1)),
    both(({ p99Ms }) => p99Ms.toFixed(1)),
    String(pairs),
  ];
}

function table(rows: string[][]): string[] {
  const widths = HEAD.map((_title, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((text, column) =>
        column < FIRST_FIGURE ? text.padEnd(widths[column]!) : text.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
}

function discardedIn(comparisons: Comparison[]): string[] {
  const lines = comparisons.flatMap(({ title, subject, peer, discarded }) =>
    discarded.map((complaint) => `  ${title}, ${subject} and ${peer}: ${complaint}`),
  );
  return lines.length === 0 ? [] : ['Pairs that do not count:', ...lines, ''];
}

function describeScale(pets: number): (comparison: Comparison) => string {
  return ({ title, figures }) => {
    // With the same number of connections, half the throughput is twice the time.
    const times = figures === undefined ? '–' : (1 / figures.ratio.median).toFixed(2);
    return `With ${grouped(pets)} pets, ${title} takes ${times} times as long (goal ${SCALE_GOAL}).`;
  };
}

function describeLimiter({ clients, decisionsPerSecond, bytesPerClient }: LimiterFigures): string {
  const { median, min, max } = decisionsPerSecond;
  return (
    `The limiter alone, ${grouped(clients)} clients: ${grouped(median)} decisions/s ` +
    `(${grouped(min)}–${grouped(max)}, goal ${grouped(LIMITER_GOAL)}), ${grouped(bytesPerClient)} bytes per client.`
  );
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString('en');
}
