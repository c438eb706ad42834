import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { UNIQUE, type WorkloadRequest } from '../workloads';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  tookMs: number;
}

/** The first of the numbers that no request has had; all have as many digits. */
let free = 100_000_000;

/** Sets numbers aside, each of which is used once. @returns the first of them */
export function reserveNumbers(count: number): number {
  free += count;
  return free - count;
}

/** @param text of a request, in which its number has a place */
export function withNumber(text: string, number: number): string {
  return text.replaceAll(String(UNIQUE), String(number));
}

/** All header fields of a request; the common ones tell who sends it. */
export function headersOf(
  { body, headers }: WorkloadRequest,
  common: Record<string, string>,
): Record<string, string> {
  return { ...common, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers };
}

/** Sends one request, with the header fields that it is given and no others: fetch would add its own to some. */
export function send(
  url: string,
  asked: WorkloadRequest,
  common: Record<string, string>,
  signal: AbortSignal,
  agent?: Agent,
): Promise<Answer> {
  const number = reserveNumbers(1);
  const sent = asked.body === undefined ? undefined : withNumber(asked.body, number);
  const numbered = withNumber(JSON.stringify(headersOf(asked, common)), number);
  const headers = JSON.parse(numbered) as Record<string, string>;
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    request(url + asked.path, { method: asked.method, signal, agent, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .once('error', reject)
        .once('end', () => {
          const text = Buffer.concat(chunks).toString();
          const tookMs = performance.now() - startedAt;
          resolve({ status: answer.statusCode!, headers: answer.headers, text, tookMs });
        });
    })
      .once('error', reject)
      .end(sent);
  });
}

/** Sends all of these, one after another over each of so many connections. */
export async function sendAll(
  url: string,
  requests: Iterable<{ request: WorkloadRequest; key: string }>,
  connections: number,
  signal: AbortSignal,
  onAnswer: (answer: Answer, request: WorkloadRequest) => void,
): Promise<void> {
  // Connections of its own: contenders close those that have been idle.
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const turns = requests[Symbol.iterator]();
  const work = async () => {
    for (let turn = turns.next(); !turn.done; turn = turns.next()) {
      const { request, key } = turn.value;
      onAnswer(await send(url, request, { 'X-API-Key': key }, signal, agent), request);
    }
  };
  await Promise.all(Array.from({ length: connections }, work)).finally(() => agent.destroy());
}
