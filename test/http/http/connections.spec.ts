import type { Server } from 'node:http';
import { connect } from 'node:net';
import { until } from '../../support/eventually';
import { RawConnection, exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const service = useService();
const impatient = useService({ timeouts: { standstillMs: 400 } });

/** As many as may be sent at once; their responses are more than the system takes for a client that reads nothing. */
const MOST = 16;
const LARGE = requestText('GET /swagger/swagger-ui-bundle.js');

async function openPaused(port: number, bytes: string): Promise<RawConnection> {
  const connection = await RawConnection.open(port);
  connection.pause();
  connection.write(bytes);
  return connection;
}

it('A connection whose client does not read responses is closed', async () => {
  const server = impatient.app.getHttpServer() as Server;
  // Nothing is read, so a client does not learn of the end either; the service's own side tells.
  const open = () =>
    new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  const before = await open();
  const connection = await openPaused(impatient.port, LARGE.repeat(MOST));
  await until(async () => (await open()) > before);
  await until(async () => (await open()) <= before);
  connection.close();
});

test('A CONNECT whose sender disconnects does no harm', async () => {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await new Promise<void>((resolve) => {
      const socket = connect(service.port, '127.0.0.1', () => {
        socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', () => {
          socket.resetAndDestroy();
          resolve();
        });
      });
      socket.on('error', () => undefined);
    });
  }
  expect(await exchange(service.port, requestText('GET /health/live'))).toMatchObject({ status: 200 });
});
