import { setTimeout as sleep } from 'node:timers/promises';
import type { Workload } from '../workloads';
import type { LoadResult, LoadTool } from './load';
import { type Probe, headersFor, probe } from './probe';
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
  const before = await probe(contender, workload, signal);
  const headers = headersFor(workload, contender);
  const result = await tool({ ...driving, url: contender.url, workload, headers });
  const after = await probe(contender, workload, signal);
  const untruths = untruthsOf(workload, before, after, result.answers, driving.connections);
  return {
    ...result,
    complaints: [...result.complaints, ...before.complaints, ...after.complaints, ...untruths],
  };
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

/** What the header fields told that was not so. Requests under way at the end may have been counted or not. */
export function untruthsOf(
  { counting }: Pick<Workload, 'counting'>,
  before: Probe,
  after: Probe,
  answers: number,
  underWay: number,
): string[] {
  if (counting === 'counted') {
    // The request after the load is one more.
    const counted = (before.remaining ?? NaN) - (after.remaining ?? NaN) - 1;
    const isTrue = counted >= answers && counted <= answers + underWay;
    return isTrue ? [] : [`Remaining went down by ${counted} for ${answers} answers`];
  }
  if (counting === 'refused') {
    const moved = Math.abs((after.refusedUntil ?? NaN) - (before.refusedUntil ?? NaN));
    return moved <= ROUNDING_MS ? [] : ['the refusals did not belong to one window'];
  }
  return [];
}
