import { once } from 'node:events';
import type { Server } from 'node:http';
import { type Socket, connect } from 'node:net';
import { eventually } from '../../support/eventually';
import { freshMinute } from '../../support/limits';
import { requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const service = useService();
beforeEach(() => freshMinute(service));

/** Sends these bytes and resets the connection before the service can have read any of them. */
async function sendAndReset(text: string): Promise<void> {
  const accepted = once(service.app.getHttpServer() as Server, 'connection') as Promise<[Socket]>;
  const socket = connect(service.port, '127.0.0.1');
  const [[server]] = await Promise.all([accepted, once(socket, 'connect')]);
  const closed = new Promise((resolve) => server.once('close', resolve));
  socket.write(text);
  socket.resetAndDestroy();
  await closed;
}

it.each([
  ['a request', requestText('GET /nope')],
  ['malformed HTTP', 'garbage\r\n\r\n'],
])('A client that resets the connection is counted by its own address: %s', async (_what, text) => {
  await sendAndReset(text);
  await eventually(async () => {
    const { headers } = await fetch(`${service.url}/health/live`);
    expect(headers.get('x-ratelimit-remaining')).toBe('59');
  });
});
