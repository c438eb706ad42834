import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Bench, expectError } from './support/bench';
import { within } from '../../support/eventually';
import { exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const bench = new Bench(useService({ timeouts: { headersMs: 250, requestMs: 300 } }));
const service = useService();
const patient = new Bench(service);

const JSON_TYPE = 'Content-Type: application/json';

describe('a request that does not arrive in time is 408, and the connection is closed', () => {
  test.each([
    ['a request line without an end', 'GET /pets'],
    ['header fields without an end', 'GET /pets HTTP/1.1\r\nHost: test\r\n'],
    ['a field without an end', 'GET /pets HTTP/1.1\r\nHost: te'],
  ])('counted for the address: %s', async (_what, bytes) => {
    bench.forgetAddress();
    const connection = await bench.open();
    connection.write(bytes);
    const answer = await connection.answer();
    expectError(answer, 408, 'request_timeout', 'address');
    expect(answer.headers.connection).toBe('close');
    await connection.closed();
  });

  test.each([
    ['a body that stops', ['Content-Length: 12'], '{"name"'],
    ['a body that does not begin', ['Content-Length: 12'], ''],
    ['chunks without an end', ['Transfer-Encoding: chunked'], '5\r\n{"nam'],
  ])('counted for the key that sent it: %s', async (_what, fields, body) => {
    const connection = await bench.open();
    connection.write(requestText('POST /categories', [await bench.keyField(), JSON_TYPE, ...fields], body));
    const answer = await connection.answer();
    expectError(answer, 408, 'request_timeout', 'key');
    expect(answer.headers.connection).toBe('close');
    await connection.closed();
  });

  it('after a good request on the same connection', async () => {
    bench.forgetAddress();
    const connection = await bench.open();
    connection.write(requestText('GET /health/live'));
    expect((await connection.answer()).status).toBe(200);
    connection.write('GET /pets HTTP/1.1\r\n');
    expectError(await connection.answer(), 408, 'request_timeout', 'address');
    await connection.closed();
  });
});

/** The next request that the patient service receives. */
function nextRequest(): Promise<[IncomingMessage, ServerResponse]> {
  const arrival = once(service.app.getHttpServer() as Server, 'request');
  return within('a request', arrival as Promise<[IncomingMessage, ServerResponse]>);
}

it('A request answered before its body arrived gets no second response', async () => {
  patient.forgetAddress();
  const connection = await patient.open();
  const arrival = nextRequest();
  connection.write(requestText('POST /categories', [JSON_TYPE, 'Content-Length: 12'], '{"name"'));
  expectError(await connection.answer(), 401, 'missing_api_key', 'address');
  const [{ socket }] = await arrival;
  // As Node does after half a minute.
  const tooLate = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  (service.app.getHttpServer() as Server).emit('clientError', tooLate, socket);
  await connection.closed();
});

it('A client that disconnects in the middle of its body is counted: the service did not fail', async () => {
  const field = await patient.keyField();
  const connection = await patient.open();
  const arrival = nextRequest();
  connection.write(requestText('POST /categories', [field, JSON_TYPE, 'Content-Length: 12'], '{"name"'));
  const [, response] = await arrival;
  connection.close();
  await within('the end of its response', once(response, 'close'));
  const standing = await exchange(service.port, requestText('GET /rate-limit', [field]));
  expect(standing.headers['x-ratelimit-remaining']).toBe('299');
});
