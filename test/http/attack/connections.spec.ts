import type { Server } from 'node:http';
import { until } from '../../support/eventually';
import { RawConnection, exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { Flood } from '../../support/client-flood';
import { connect } from 'node:net';
import { freshMinute } from '../../support/limits';

const service = useService();
const impatient = useService({ timeouts: { standstillMs: 400 } });

const MOST = 16;

describe('pipelined requests', () => {
  it(`are answered in order, up to ${MOST} at a time, repeatedly`, async () => {
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

  it('cost the connection when more than that number wait', async () => {
    const connection = await RawConnection.open(service.port);
    connection.write(requestText('GET /openapi.json').repeat(3_000));
    await expect(connection.answer()).rejects.toThrow('the connection closed');
    connection.close();
  });
});

it('A request starts only when the response before it was taken, and never if the client has left', async () => {
  const { key } = await service.issueKey();
  const asked = (path: string) => requestText(`GET ${path}`, [`X-API-Key: ${key}`]);
  const remaining = async () => {
    const { headers } = await exchange(service.port, asked('/rate-limit'));
    return Number(headers['x-ratelimit-remaining']);
  };
  const before = await remaining();
  let arrived = 0;
  const count = () => (arrived += 1);
  const server = service.app.getHttpServer() as Server;
  server.on('request', count);
  const flood = new Flood(service.port);
  try {
    // More than the system takes for a client that reads nothing.
    const large = requestText('GET /docs/swagger-ui-bundle.js').repeat(MOST - 1);
    const [reader, leaver] = await flood.open(2);
    flood.sockets.forEach((socket) => socket.pause().write(large + asked('/pets')));
    await until(() => arrived === 2 * MOST);
    expect(await remaining()).toBe(before);
    leaver!.destroy();
    let received = '';
    reader!
      .on('data', (chunk: Buffer) => (received = (received + chunk.toString('latin1')).slice(-20_000)))
      .resume();
    await until(() => received.includes('x-ratelimit-remaining'));
    expect(await remaining()).toBe(before - 1);
  } finally {
    server.off('request', count);
    flood.close();
  }
});

it('A connection whose client does not read responses is closed', async () => {
  const server = impatient.app.getHttpServer() as Server;
  let accepted = 0;
  server.on('connection', () => (accepted += 1));
  const flood = new Flood(impatient.port);
  const sockets = await flood.open(10, requestText('GET /docs/swagger-ui-bundle.js').repeat(MOST));
  // Nothing is read, so a client does not learn of the end either; the service's own side tells.
  sockets.forEach((socket) => socket.pause());
  const connections = () =>
    new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  try {
    await until(() => accepted === sockets.length);
    await until(async () => (await connections()) < sockets.length / 2);
  } finally {
    flood.close();
  }
});

beforeEach(() => freshMinute(service));

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
  expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
});
