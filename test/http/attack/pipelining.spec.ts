import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Connections } from '#libs/http';
import { until } from '../../support/eventually';
import { RawConnection, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { Flood } from '../../support/client-flood';

const service = useService();
const impatient = useService({ timeouts: { standstillMs: 400 } });

const MOST = 16;

describe('requests that are sent without waiting for answers', () => {
  it(`are all answered in their order, ${MOST} at a time, again and again`, async () => {
    const { key } = await service.issueKey();
    const connection = await RawConnection.open(service.port);
    for (let round = 0; round < 3; round += 1) {
      const ids = Array.from({ length: MOST }, (_none, index) => `${round}.${index}`);
      const texts = ids.map((id) => requestText('GET /pets', [`X-API-Key: ${key}`, `X-Request-Id: ${id}`]));
      connection.write(texts.join(''));
      for (const id of ids) {
        expect(await connection.answer()).toMatchObject({ status: 200, headers: { 'x-request-id': id } });
      }
    }
    connection.close();
  });

  it('are refused beyond that, and the connection closed', async () => {
    const connection = await RawConnection.open(service.port);
    connection.write(requestText('GET /openapi.json').repeat(MOST + 9));
    for (let index = 0; index < MOST; index += 1) {
      expect((await connection.answer()).status).toBe(200);
    }
    const refusal = await connection.answer();
    expect(refusal).toMatchObject({ status: 400, headers: { connection: 'close' } });
    expect(JSON.parse(refusal.text)).toMatchObject({ code: 'bad_request' });
    await connection.closed();
  });
});

it('A connection on which nobody reads the answers is closed', async () => {
  const flood = new Flood(impatient.port);
  const sockets = await flood.open(10, requestText('GET /docs/swagger-ui-bundle.js').repeat(MOST));
  // Nothing is read, so a client does not learn of the end either; the service's own side tells.
  sockets.forEach((socket) => socket.pause());
  const connections = () =>
    new Promise<number>((resolve) =>
      impatient.app.getHttpServer().getConnections((_e: unknown, n: number) => resolve(n)),
    );
  try {
    await until(async () => (await connections()) >= sockets.length);
    await until(async () => (await connections()) < sockets.length / 2);
  } finally {
    flood.close();
  }
});

it('Answers that wait on a connection which is lost are forgotten', async () => {
  const server = createServer(() => undefined);
  const connections = new Connections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const connection = await RawConnection.open((server.address() as AddressInfo).port);
    connection.write(requestText('GET /').repeat(5));
    await until(() => connections.requestsInProgress === 5);
    connection.close();
    await until(() => connections.requestsInProgress === 0);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
