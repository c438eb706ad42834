import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Load, LoadResult } from './load';
import { output } from './program';
import { headersOf, reserveNumbers } from './send';
import { UNIQUE } from '../workloads';

const ANSWER_SECONDS = 10;
/** What it may take longer than it was told to. */
const GRACE_MS = 20_000;

interface Summary {
  answers: number;
  microseconds: number;
  p50Microseconds: number;
  p99Microseconds: number;
  /** Requests answered with a status above 399. */
  refused: number;
  failed: number;
}

/** More than are answered in a second. */
const MOST_PER_SECOND = 100_000;

/** Drives with wrk, on one thread. */
export async function wrk(load: Load): Promise<LoadResult> {
  const { url, workload, headers, connections, seconds, folder: cwd, signal } = load;
  const script = join(cwd, `${workload.name}.lua`);
  await writeFile(script, scriptFor(workload.requests, headers, reserveNumbers(seconds * MOST_PER_SECOND)));
  const options = `-t1 -c${connections} -d${seconds}s --timeout=${ANSWER_SECONDS}s -s`.split(' ');
  const timeout = seconds * 1_000 + GRACE_MS;
  const printed = await output('wrk', [...options, script, url], { cwd, signal, timeout });
  const line = /^SUMMARY (.+)$/m.exec(printed)?.[1];
  if (line === undefined) {
    throw new Error(`wrk printed no summary: ${printed}`);
  }
  return summarize(JSON.parse(line) as Summary, workload.status);
}

/** JSON's strings are Lua's as long as they are plain ASCII, which those of the workloads are. */
function scriptFor(
  requests: Load['workload']['requests'],
  common: Record<string, string>,
  firstNumber: number,
): string {
  const entries = requests.map((request) => {
    const fields = Object.entries(headersOf(request, common)).map(
      ([name, value]) => `[${JSON.stringify(name)}]=${JSON.stringify(value)}`,
    );
    const [method, path, body = 'nil'] = [request.method, request.path, request.body].map((text) =>
      JSON.stringify(text),
    );
    return `  format(${method}, ${path}, { ${fields.join(', ')} }, ${body}),`;
  });
  const numbered = JSON.stringify(requests).includes(String(UNIQUE));
  const message = 'messages[turn % #messages + 1]';
  return `local messages
local turn = -1
local function format(method, path, headers, body)
  for name, value in pairs(wrk.headers) do headers[name] = value end
  return wrk.format(method, path, headers, body)
end
function init()
  messages = {
${entries.join('\n')}
  }
end
function request()
  turn = turn + 1
  return ${numbered ? `(${message}:gsub("${UNIQUE}", tostring(${firstNumber} + turn)))` : message}
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('SUMMARY {"answers":%d,"microseconds":%d,"p50Microseconds":%d,"p99Microseconds":%d,"refused":%d,"failed":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
`;
}

function summarize(summary: Summary, expected: number): LoadResult {
  const { answers, refused, failed } = summary;
  const wrong = expected >= 400 ? answers - refused : refused;
  return {
    requestsPerSecond: answers / (summary.microseconds / 1e6),
    p50Ms: summary.p50Microseconds / 1_000,
    p99Ms: summary.p99Microseconds / 1_000,
    answers,
    complaints: [
      ...(wrong > 0 ? [`${wrong} answers were not ${expected}`] : []),
      ...(failed > 0 ? [`${failed} requests failed`] : []),
    ],
  };
}
