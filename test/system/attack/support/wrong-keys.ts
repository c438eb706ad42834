import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { newApiKey } from '../../../../src/modules/auth/api-key';
import { within } from '../../../support/eventually';

const CONNECTIONS = 16;
/** As many requests as may wait for their answers on one connection. */
const AT_ONCE = 16;

interface KeyFlood {
  port: number;
  requests: number;
  /** Header fields of the request with this number, beside its key. */
  fields: (index: number) => string;
}

/**
 * Sends requests with well-formed keys that nobody has, each another one, as fast as they are answered.
 * @returns how many answers had which status
 */
export async function tryWrongKeys({ port, requests, fields }: KeyFlood): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  let sent = 0;
  const work = async () => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    const closed = new AbortController();
    socket.once('close', () => closed.abort());
    await within('a connection', once(socket, 'connect'));
    while (sent < requests) {
      const count = Math.min(AT_ONCE, requests - sent);
      const texts = Array.from({ length: count }, () => textOf(fields((sent += 1))));
      socket.write(texts.join(''));
      for (const status of await statusesOf(socket, count, closed.signal)) {
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return statuses;
}

function textOf(fields: string): string {
  return `GET /pets HTTP/1.1\r\nHost: a\r\nX-API-Key: ${newApiKey()}\r\n${fields}\r\n`;
}

/** Reads until so many answers have come completely: an Error object ends each of them. */
async function statusesOf(socket: Socket, count: number, signal: AbortSignal): Promise<string[]> {
  let text = '';
  while ((text.match(/"status":\d+\}/g) ?? []).length < count) {
    const [chunk] = (await within(`${count} answers`, once(socket, 'data', { signal }))) as [string];
    text += chunk;
  }
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!);
}
