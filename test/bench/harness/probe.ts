import { isDeepStrictEqual } from 'node:util';
import type { Body, Workload } from '../workloads';
import { type Answer, send } from './send';
import type { RunningContender } from './start-contender';

/** One request, made beside the load: what was wrong with its answer, and what the answer told of the limits. */
export interface Probe {
  complaints: string[];
  status: number;
  remaining: number | undefined;
  /** Unix milliseconds until which a refusal tells to wait. */
  refusedUntil: number | undefined;
}

/** The header fields that tell who asks; nobody does where the address is to be refused. */
export function whoAsks({ counting }: Workload, { apiKey }: RunningContender): Record<string, string> {
  return counting === 'refused' ? {} : { 'X-API-Key': apiKey };
}

/** @param readsBack whether what is written is read again, which is one more request */
export async function probe(
  contender: RunningContender,
  workload: Workload,
  signal: AbortSignal,
  readsBack = false,
): Promise<Probe> {
  const key = whoAsks(workload, contender);
  const answer = await send(contender.url, workload.requests[0]!, key, signal);
  const retryAfter = numberIn(answer, contender.retryAfter);
  const complaints = complaintsOf(contender, workload, answer);
  if (readsBack && workload.readBack && complaints.length === 0) {
    const body = JSON.parse(answer.text) as Body;
    const path = workload.readBack(body);
    const { text } = await send(contender.url, { method: 'GET', path }, key, signal);
    if (!isDeepStrictEqual(parsed(text), body)) {
      complaints.push(`wrote ${answer.text} and read ${text}`);
    }
  }
  return {
    complaints,
    status: answer.status,
    remaining: numberIn(answer, contender.remaining),
    refusedUntil: retryAfter === undefined ? undefined : Date.now() + retryAfter * 1_000,
  };
}

function complaintsOf(contender: RunningContender, workload: Workload, answer: Answer): string[] {
  const { status, text, headers } = answer;
  if (status !== workload.status) {
    return [`answered ${status} instead of ${workload.status}: ${text.slice(0, 200)}`];
  }
  const complaints: string[] = [];
  if (!isRightBody(contender, workload, text)) {
    complaints.push(`answered another body than expected: ${text.slice(0, 200)}`);
  }
  const due = workload.counting === 'refused' ? [contender.retryAfter] : contender.headers;
  return [
    ...complaints,
    ...due.filter((name) => !(name in headers)).map((name) => `the answer lacks ${name}`),
  ];
}

function isRightBody(contender: RunningContender, workload: Workload, text: string): boolean {
  if (workload.status === 304) {
    return text === '';
  }
  const body = parsed(text) as Body | undefined;
  if (body === undefined) {
    return false;
  }
  return workload.counting === 'refused' ? contender.statusTold(body) === 429 : workload.isRight(body);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function numberIn({ headers }: Answer, name: string): number | undefined {
  return headers[name] === undefined ? undefined : Number(headers[name]);
}
