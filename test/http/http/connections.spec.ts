import type { Server } from 'node:http';
import { connect } from 'node:net';
import { until } from '../../support/eventually';
import { RawConnection, exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const service = useService();
const stopping = useService();
const impatient = useService({ timeouts: { standstillMs: 400 } });

/** Their responses are more than the system takes for a client that reads nothing. */
const MANY = 100;
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
  const connection = await openPaused(impatient.port, LARGE.repeat(MANY));
  await until(async () => (await open()) > before);
  await until(async () => (await open()) <= before);
  connection.close();
});

const JSON_FIELDS = ['Content-Type: application/json', 'Content-Length: 15'];

it('Who closes only the sending side gets the responses to all requests', async () => {
  const key = `X-API-Key: ${(await service.issueKey()).key}`;
  const connection = await RawConnection.open(service.port);
  connection.write(requestText('POST /categories', [key, ...JSON_FIELDS], '{"name":"Dogs"}'));
  connection.write(requestText('GET /pets?limit=1', [key]).repeat(30));
  connection.write(requestText('GET /nope', [key]));
  connection.end();
  expect((await connection.answer()).status).toBe(201);
  for (let answered = 0; answered < 30; answered += 1) {
    expect((await connection.answer()).status).toBe(200);
  }
  expect((await connection.answer()).status).toBe(404);
  await connection.closed();
});

it('While the service stops, every response says that the connection closes; before, only to who asked', async () => {
  const key = `X-API-Key: ${(await stopping.issueKey()).key}`;
  const requests: [status: number, line: string, fields: string[], body?: string][] = [
    [200, 'GET /pets', [key]],
    [200, 'GET /health/live', []],
    [200, 'GET /openapi.json', []],
    [400, 'GET /pets?limit=0', [key]],
    [400, 'POST /categories', [key, ...JSON_FIELDS], '{"name":"Dogs"'.padEnd(15)],
    [401, 'GET /pets', []],
    [404, 'GET /nope', [key]],
    [404, 'GET /pets/%zz', [key]],
    [405, 'PUT /pets', [key]],
    [412, 'GET /pets', [key, 'If-Match: "stale"']],
    [415, 'POST /categories', [key, 'Content-Length: 15'], '{"name":"Dogs"}'],
  ];
  const seen = async (more: string[]) => {
    const answers: unknown[] = [];
    for (const [, line, fields, body] of requests) {
      const text = requestText(line, [...more, ...fields], body);
      const { status, headers } = await exchange(stopping.port, text);
      answers.push([status, line, headers.connection]);
    }
    return answers;
  };
  const all = (connection: string) => requests.map(([status, line]) => [status, line, connection]);
  expect(await seen([])).toEqual(all('keep-alive'));
  expect(await seen(['Connection: close'])).toEqual(all('close'));
  stopping.connections.announceEnd();
  expect(await seen([])).toEqual(all('close'));
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
