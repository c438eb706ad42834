import { setTimeout as sleep } from 'node:timers/promises';
import type { Workload } from '../workloads';
import type { LoadResult, LoadTool } from './load';
import { numbers } from './databases';
import { type Probe, probe, whoAsks } from './probe';
import type { RunningContender } from './start-contender';

/** How a contender is driven. */
export interface Driving {
  tool: LoadTool;
  connections: number;
  seconds: number;
  folder: string;
  signal: AbortSignal;
}

/** A refusal has to hold for the load and the requests beside it. */
const MARGIN_MS = 3_000;
/** What was under way at the end has been written by then. */
const SETTLE_MS = 100;
/** Retry-After is whole seconds, rounded up. */
const ROUNDING_MS = 1_500;
/** More than an address has in a minute. */
const MOST_TO_REFUSAL = 200;

/** Loads a contender and holds its answers against what they should be; a run with complaints does not count. */
export async function measuredRun(
  contender: RunningContender,
  workload: Workload,
  driving: Driving,
): Promise<LoadResult> {
  const { tool, signal, seconds } = driving;
  if (workload.counting === 'refused') {
    await untilRefused(contender, workload, seconds * 1_000 + MARGIN_MS, signal);
  }
  const { grows, stays } = workload;
  const state = () => numbers(contender.databaseUrl, [...grows, ...stays]);
  const before = await probe(contender, workload, signal);
  const stateBefore = await state();
  const result = await tool({
    ...driving,
    url: contender.url,
    workload,
    headers: whoAsks(workload, contender),
  });
  await sleep(grows.length > 0 || workload.readBack ? SETTLE_MS : 0, undefined, { signal });
  const stateAfter = await state();
  const after = await probe(contender, workload, signal, true);
  const { answers } = result;
  const { connections } = driving;
  return {
    ...result,
    complaints: [
      ...result.complaints,
      ...before.complaints,
      ...after.complaints,
      ...untruthsOf(contender, workload, before, after, answers, connections),
      ...stateAfter.flatMap((value, index) => {
        const grown = value - stateBefore[index]!;
        const isRight = index < grows.length ? isCountOf(answers, grown, connections) : grown === 0;
        return isRight ? [] : [`${[...grows, ...stays][index]} grew by ${grown} with ${answers} answers`];
      }),
    ],
  };
}

/** Requests under way at the end may have been counted or not. */
function isCountOf(answers: number, counted: number, underWay: number): boolean {
  return counted >= answers && counted <= answers + underWay;
}

/** Uses up the address's minute, and waits for the next one where too little of this one is left. */
async function untilRefused(
  contender: RunningContender,
  workload: Workload,
  neededMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (let sent = 0; sent < MOST_TO_REFUSAL; sent += 1) {
    const { status, refusedUntil = 0 } = await probe(contender, workload, signal);
    const leftMs = refusedUntil - Date.now();
    if (status === workload.status && leftMs >= neededMs) {
      return;
    }
    if (status === workload.status) {
      await sleep(Math.max(0, leftMs), undefined, { signal });
    }
  }
  throw new Error(`${contender.title} refused nothing after ${MOST_TO_REFUSAL} requests without a key`);
}

/** What the header fields told that was not so. */
export function untruthsOf(
  { refunds }: Pick<RunningContender, 'refunds'>,
  { counting }: Pick<Workload, 'counting'>,
  before: Probe,
  after: Probe,
  answers: number,
  underWay: number,
): string[] {
  if (counting === 'refused') {
    const moved = Math.abs((after.refusedUntil ?? NaN) - (before.refusedUntil ?? NaN));
    return moved <= ROUNDING_MS ? [] : ['the refusals did not belong to one window'];
  }
  const isFree = counting === 'refunded' && refunds;
  // The request after the load is one more.
  const counted = (before.remaining ?? NaN) - (after.remaining ?? NaN) - (isFree ? 0 : 1);
  return isCountOf(isFree ? 0 : answers, counted, underWay)
    ? []
    : [`Remaining went down by ${counted} for ${answers} answers`];
}
