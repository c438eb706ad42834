import autocannon from 'autocannon';
import { UNIQUE, type Workload, type WorkloadRequest } from '../workloads';
import type { Load, LoadResult } from './load';
import { headersOf, reserveNumbers, withNumber } from './send';

const ANSWER_SECONDS = 10;

/** Drives with autocannon in this process. Its latencies are whole milliseconds. */
export async function runAutocannon(load: Load): Promise<LoadResult> {
  const { url, workload, headers, connections, seconds, signal } = load;
  const shares = sharesOf(workload.requests, connections);
  let next = 0;
  const run = autocannon({
    url,
    connections,
    duration: seconds,
    headers,
    timeout: ANSWER_SECONDS,
    setupClient: (client) => {
      client.setRequests(shares[next % shares.length]!.map((request) => prepared(request, headers)));
      next += 1;
    },
  });
  const stop = () => (run as unknown as autocannon.Instance).stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const result = await run;
    signal.throwIfAborted();
    return summarize(result, workload);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** A request with its header fields, and each time with a number of its own where one has a place in it. */
function prepared(request: WorkloadRequest, common: Record<string, string>): autocannon.Request {
  const whole = { ...request, headers: headersOf(request, common) };
  const text = JSON.stringify(whole);
  const numbered = () => JSON.parse(withNumber(text, reserveNumbers(1))) as autocannon.Request;
  // What autocannon passes on has the host, which every request needs.
  const setupRequest = (given: autocannon.Request) => ({ ...given, ...numbered() });
  return text.includes(String(UNIQUE)) ? { ...whole, setupRequest } : whole;
}

/** Every connection has requests of its own, so that they do not all order the same pet at the same time. */
function sharesOf(requests: readonly WorkloadRequest[], connections: number): WorkloadRequest[][] {
  return Array.from({ length: Math.min(connections, requests.length) }, (_none, share) =>
    requests.filter((_request, index) => index % connections === share),
  );
}

function summarize(result: autocannon.Result, { name, status: expected }: Workload): LoadResult {
  const statuses = Object.entries(result.statusCodeStats ?? {}).map(
    ([status, { count = 0 }]) => [Number(status), count] as const,
  );
  const answers = statuses.reduce((sum, [, count]) => sum + count, 0);
  const complaints = statuses
    .filter(([status]) => status !== expected && !(name === 'mixed' && status === 200))
    .map(([status, count]) => `${count} answers were ${status} instead of ${expected}`);
  if (result.errors > 0) {
    complaints.push(`${result.errors} requests failed, ${result.timeouts} of them by a timeout`);
  }
  return {
    requestsPerSecond: answers / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    answers,
    complaints,
  };
}
