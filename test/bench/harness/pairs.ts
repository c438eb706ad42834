import { type Workload, type WorkloadName, workload } from '../workloads';
import type { LoadResult } from './load';
import { type Driving, measuredRun } from './measured-run';
import type { RunningContender } from './start-contender';
import { type Spread, spreadOf } from './statistics';

export interface PairsOptions {
  pairs: number;
  warmUpSeconds: number;
  driving: Driving;
  /** Told what is about to be run. */
  onRun: (what: string) => void;
}

/** Medians of one contender's runs. */
export interface Figures {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

export interface Comparison {
  workload: string;
  title: string;
  subject: string;
  peer: string;
  /** Pairs that counted, and what spoke against the others. */
  pairs: number;
  discarded: string[];
  /** Absent where no pair counted. */
  figures?: { subject: Figures; peer: Figures; ratio: Spread };
}

interface Pair {
  subject: LoadResult;
  peer: LoadResult;
}

/** Runs both in turn, each time in the other order, so that what drifts on the machine meets both alike. */
export async function compare(
  subject: RunningContender,
  peer: RunningContender,
  name: WorkloadName,
  { pairs, warmUpSeconds, driving, onRun }: PairsOptions,
): Promise<Comparison> {
  const work = (contender: RunningContender) => workload(name, contender.pets);
  const described = work(subject);
  const what = `${described.title}: ${subject.title} and ${peer.title}`;
  onRun(`${what}, warming up`);
  for (const contender of [subject, peer]) {
    await measuredRun(contender, work(contender), { ...driving, seconds: warmUpSeconds });
  }
  const run: Pair[] = [];
  for (let index = 0; index < pairs; index += 1) {
    onRun(`${what}, pair ${index + 1} of ${pairs}`);
    const measured = (one: RunningContender) => measuredRun(one, work(one), driving);
    run.push(await runPair(subject, peer, index % 2 === 0, measured));
  }
  return summarize(subject, peer, described, run);
}

async function runPair(
  subject: RunningContender,
  peer: RunningContender,
  subjectFirst: boolean,
  run: (contender: RunningContender) => Promise<LoadResult>,
): Promise<Pair> {
  if (subjectFirst) {
    const first = await run(subject);
    return { subject: first, peer: await run(peer) };
  }
  const first = await run(peer);
  return { subject: await run(subject), peer: first };
}

function summarize(
  subject: RunningContender,
  peer: RunningContender,
  { name, title }: Workload,
  pairs: Pair[],
): Comparison {
  const counting = pairs.filter((pair) => pair.subject.complaints.length + pair.peer.complaints.length === 0);
  const discarded = pairs.flatMap((pair) => [
    ...pair.subject.complaints.map((complaint) => `${subject.name}: ${complaint}`),
    ...pair.peer.complaints.map((complaint) => `${peer.name}: ${complaint}`),
  ]);
  const names = { workload: name, title, subject: subject.name, peer: peer.name };
  const comparison = { ...names, pairs: counting.length, discarded };
  return counting.length === 0 ? comparison : { ...comparison, figures: figuresOf(counting) };
}

/** @param pairs at least one */
export function figuresOf(pairs: Pair[]): NonNullable<Comparison['figures']> {
  return {
    subject: mediansOf(pairs.map(({ subject }) => subject)),
    peer: mediansOf(pairs.map(({ peer }) => peer)),
    ratio: spreadOf(pairs.map(({ subject, peer }) => subject.requestsPerSecond / peer.requestsPerSecond)),
  };
}

function mediansOf(results: LoadResult[]): Figures {
  const median = (value: (result: LoadResult) => number) => spreadOf(results.map(value)).median;
  return {
    requestsPerSecond: median((result) => result.requestsPerSecond),
    p50Ms: median((result) => result.p50Ms),
    p99Ms: median((result) => result.p99Ms),
  };
}
