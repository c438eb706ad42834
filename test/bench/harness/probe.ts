import type { Workload } from '../workloads';
import type { RunningContender } from './start-contender';

/** One request, made beside the load: what was wrong with its answer, and what the answer told of the limits. */
export interface Probe {
  complaints: string[];
  status: number;
  remaining: number | undefined;
  /** Unix milliseconds until which a refusal tells to wait. */
  refusedUntil: number | undefined;
}

/** The header fields of a workload's requests. */
export function headersFor(
  { counting, requests }: Workload,
  { apiKey }: RunningContender,
): Record<string, string> {
  return {
    ...(counting === 'refused' ? {} : { 'X-API-Key': apiKey }),
    ...(requests[0]?.body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
}

export async function probe(
  contender: RunningContender,
  workload: Workload,
  signal: AbortSignal,
): Promise<Probe> {
  const { method, path, body } = workload.requests[0]!;
  const headers = headersFor(workload, contender);
  const answer = await fetch(`${contender.url}${path}`, { method, headers, body, signal });
  const text = await answer.text();
  const retryAfter = numberIn(answer, contender.retryAfter);
  return {
    status: answer.status,
    remaining: numberIn(answer, contender.remaining),
    refusedUntil: retryAfter === undefined ? undefined : Date.now() + retryAfter * 1_000,
    complaints: complaintsOf(contender, workload, answer, text),
  };
}

function complaintsOf(
  contender: RunningContender,
  workload: Workload,
  answer: Response,
  text: string,
): string[] {
  const complaints: string[] = [];
  if (answer.status !== workload.status) {
    complaints.push(`answered ${answer.status} instead of ${workload.status}: ${text.slice(0, 200)}`);
    return complaints;
  }
  if (!isRightBody(contender, workload, text)) {
    complaints.push(`answered another body than expected: ${text.slice(0, 200)}`);
  }
  for (const header of headersDue(contender, workload)) {
    if (!answer.headers.has(header)) {
      complaints.push(`the answer lacks ${header}`);
    }
  }
  return complaints;
}

function isRightBody(contender: RunningContender, workload: Workload, text: string): boolean {
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    return workload.counting === 'refused' ? contender.statusTold(body) === 429 : workload.isRight(body);
  } catch {
    return false;
  }
}

function headersDue({ headers, retryAfter }: RunningContender, { counting }: Workload): string[] {
  switch (counting) {
    case 'counted':
      return headers;
    case 'refused':
      return [retryAfter];
    case 'never':
      return [];
  }
}

function numberIn(answer: Response, header: string): number | undefined {
  const text = answer.headers.get(header);
  return text === null ? undefined : Number(text);
}
