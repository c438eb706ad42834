import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { UNIQUE, type WorkloadRequest } from '../workloads';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** The first of the numbers that no request has had; all have as many digits. */
let free = 100_000_000;

/** Sets numbers aside, each of which is used once. @returns the first of them */
export function reserveNumbers(count: number): number {
  const first = free;
  free += count;
  return first;
}

/** @param text of a request, in which its number has a place */
export function withNumber(text: string, number: number): string {
  return text.replaceAll(String(UNIQUE), String(number));
}

/** Sends one request, with the header fields that it is given and no others: fetch would add its own to some. */
export function send(
  url: string,
  { method, path, body, headers: own }: WorkloadRequest,
  common: Record<string, string>,
  signal: AbortSignal,
  agent?: Agent,
): Promise<Answer> {
  const number = reserveNumbers(1);
  const sent = body === undefined ? undefined : withNumber(body, number);
  const headers = headersOf({ method, path, body, headers: own }, common, number);
  return new Promise((resolve, reject) => {
    request(url + path, { method, signal, agent, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .once('error', reject)
        .once('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: answer.statusCode!, headers: answer.headers, text });
        });
    })
      .once('error', reject)
      .end(sent);
  });
}

function headersOf(
  { body, headers }: WorkloadRequest,
  common: Record<string, string>,
  number: number,
): Record<string, string> {
  const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
  return JSON.parse(withNumber(JSON.stringify({ ...common, ...type, ...headers }), number)) as Record<
    string,
    string
  >;
}
