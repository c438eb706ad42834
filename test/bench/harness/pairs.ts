import { type Described, type WorkloadName, describedAs, workload } from '../workloads';
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

/** The service beside one of its peers, in those rounds in which both were right. */
export interface Comparison {
  peer: string;
  pairs: number;
  /** Absent where no pair counted. */
  figures?: { subject: Figures; peer: Figures; ratio: Spread };
}

/** What came of one operation. */
export interface Measured {
  workload: WorkloadName;
  title: string;
  kind: Described['kind'];
  comparisons: Comparison[];
  /** What spoke against the rounds that do not count. */
  discarded: string[];
}

/** Runs all in turn, each round in another order, so that what drifts on the machine meets everybody alike. */
export async function compare(
  subject: RunningContender,
  peers: readonly RunningContender[],
  name: WorkloadName,
  { pairs, warmUpSeconds, driving, onRun }: PairsOptions,
): Promise<Measured> {
  const { title, kind } = describedAs(name);
  const contenders = [subject, ...peers];
  const runs = new Map<RunningContender, LoadResult[]>();
  const works = new Map(
    await Promise.all(contenders.map(async (one) => [one, await workload(name, one)] as const)),
  );
  for (const one of contenders) {
    onRun(`${title}: warming up ${one.title}`);
    runs.set(one, []);
    await measuredRun(one, works.get(one)!, { ...driving, seconds: warmUpSeconds });
  }
  for (let round = 0; round < pairs; round += 1) {
    for (const one of inOrder(contenders, round)) {
      onRun(`${title}: ${one.title}, round ${round + 1} of ${pairs}`);
      runs.get(one)!.push(await measuredRun(one, works.get(one)!, driving));
    }
  }
  const discarded = contenders.flatMap((one) =>
    runs.get(one)!.flatMap(({ complaints }) => complaints.map((complaint) => `${one.name}: ${complaint}`)),
  );
  const comparisons = peers.map((one) => comparisonOf(one.name, runs.get(subject)!, runs.get(one)!));
  return { workload: name, title, kind, comparisons, discarded };
}

/** Another one begins each time, and where there are more than two, they go backwards every second time. */
export function inOrder<One>(all: readonly One[], round: number): One[] {
  const first = round % all.length;
  const turned = [...all.slice(first), ...all.slice(0, first)];
  return all.length > 2 && round % 2 === 1 ? turned.reverse() : turned;
}

function comparisonOf(peer: string, subjects: LoadResult[], peers: LoadResult[]): Comparison {
  const rounds = subjects.map((subject, round) => ({ subject, peer: peers[round]! }));
  const counting = rounds.filter(
    (pair) => pair.subject.complaints.length + pair.peer.complaints.length === 0,
  );
  if (counting.length === 0) {
    return { peer, pairs: 0 };
  }
  const figures = {
    subject: mediansOf(counting.map((pair) => pair.subject)),
    peer: mediansOf(counting.map((pair) => pair.peer)),
    ratio: spreadOf(counting.map((pair) => pair.subject.requestsPerSecond / pair.peer.requestsPerSecond)),
  };
  return { peer, pairs: counting.length, figures };
}

function mediansOf(results: LoadResult[]): Figures {
  const median = (value: (result: LoadResult) => number) => spreadOf(results.map(value)).median;
  return {
    requestsPerSecond: median((result) => result.requestsPerSecond),
    p50Ms: median((result) => result.p50Ms),
    p99Ms: median((result) => result.p99Ms),
  };
}
