import { Bench, expectError } from './support/bench';
import { exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { within } from '../../support/eventually';

const service = useService();
const bench = new Bench(service);
const impatient = new Bench(useService({ timeouts: { headersMs: 250, requestMs: 300 } }));

const JSON_TYPE = 'Content-Type: application/json';
const GOOD = requestText('GET /health/live');
const post = (fields: string[], body = '') => requestText('POST /categories', [JSON_TYPE, ...fields], body);

/** Refused by Node's parser before there is a request, so counted for nobody; the connection is closed. */
const MALFORMED: [string, string | Buffer, number, string][] = [
  ['a greeting', 'hello\r\n\r\n', 400, 'bad_request'],
  ['a TLS greeting', Buffer.from('16030100a5010000a1', 'hex'), 400, 'bad_request'],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'bad_request'],
  ['a version that is none', 'GET /pets HTTP/x\r\n\r\n', 400, 'bad_request'],
  [
    'a target with bytes that are no ASCII',
    'GET /pets/\xff HTTP/1.1\r\nHost: test\r\n\r\n',
    400,
    'bad_request',
  ],
  ['a space in a field name', requestText('GET /pets', ['Bad Field: x']), 400, 'bad_request'],
  ['a space before the colon', requestText('GET /pets', ['Bad : x']), 400, 'bad_request'],
  ['a NUL in a field', requestText('GET /pets', ['Bad: x\0y']), 400, 'bad_request'],
  ['a folded field', requestText('GET /pets', ['A: b', ' c']), 400, 'bad_request'],
  ['two lengths', post(['Content-Length: 12', 'Content-Length: 13']), 400, 'bad_request'],
  ['17 KiB of fields', requestText('GET /pets', [`A: ${'x'.repeat(17_000)}`]), 431, 'headers_too_large'],
  ['2 MB of fields', requestText('GET /pets', [`A: ${'x'.repeat(2_000_000)}`]), 431, 'headers_too_large'],
  [
    '4,000 fields',
    requestText('GET /pets', Array<string>(4_000).fill('A-Field: b')),
    431,
    'headers_too_large',
  ],
  ['a target of 20 KB', requestText(`GET /pets/${'1'.repeat(20_000)}`), 431, 'headers_too_large'],
];

describe('malformed HTTP is answered on the socket, which is then closed', () => {
  test.each(MALFORMED)('%s', async (_what, bytes, status, code) => {
    bench.forgetAddress();
    const connection = await bench.open();
    connection.write(bytes);
    const answer = await connection.answer();
    expectError(answer, status, code, 'nobody');
    expect(answer.headers.connection).toBe('close');
    await connection.closed();
  });

  it('even when more of it keeps arriving', async () => {
    bench.forgetAddress();
    const connection = await bench.open();
    connection.write('garbage\r\n\r\n');
    expectError(await connection.answer(), 400, 'bad_request', 'nobody');
    connection.write('garbage\r\n\r\n'.repeat(100));
    await connection.closed();
    expect(await bench.bytes(GOOD)).toMatchObject({ headers: { 'x-ratelimit-remaining': '60' } });
  });
});

it('A body that is no longer valid HTTP is answered in place of its request', async () => {
  const text = `${post(['Transfer-Encoding: chunked', await bench.keyField()])}zz\r\n`;
  expectError(await bench.bytes(text), 400, 'bad_request', 'nobody');
});

it('HTTP/1.1 without Host is refused by Node', async () => {
  const socket = connect(service.port, '127.0.0.1');
  socket.write('GET /pets HTTP/1.1\r\n\r\n');
  const text = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
  expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close/);
});

describe('many short header fields', () => {
  const SHORT = 'a:';
  const ids = async () => {
    const { rows } = await service.database.pool.query<{ id: string }>('SELECT id FROM categories');
    return rows.map(({ id }) => Number(id));
  };
  const after1000 = (line: string, fields: string[], body: string, last: string) => {
    const many = Array<string>(1_000).fill(SHORT);
    const length = `Content-Length: ${body.length}`;
    return requestText(line, [...fields, JSON_TYPE, length, ...many, last], body);
  };

  it('are all read: a condition after 1,000 others applies', async () => {
    const key = await bench.keyField();
    const created = await bench.bytes(post([key, 'Content-Length: 15'], '{"name":"Cats"}'));
    const path = created.headers.location!;
    const text = after1000(`PUT ${path}`, [key], '{"name":"Dogs"}', 'If-Match: "stale"');
    expectError(await bench.bytes(text), 412, 'precondition_failed', 'key');
  });

  it('are all read: an Idempotency-Key after 1,000 others applies', async () => {
    const key = await bench.keyField();
    const text = after1000('POST /categories', [key], '{"name":"Fish"}', 'Idempotency-Key: fish');
    const before = await ids();
    const first = await bench.bytes(text);
    const second = await bench.bytes(text);
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
    expect(await ids()).toHaveLength(before.length + 1);
  });
});

it('HTTP/1.0 is served, without Host, and the connection closed', async () => {
  const connection = await bench.open();
  connection.write(`GET /pets HTTP/1.0\r\n${await bench.keyField()}\r\n\r\n`);
  expect(await connection.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
  await connection.closed();
});

it('Garbage after valid requests on a connection does not affect their responses', async () => {
  bench.forgetAddress();
  const connection = await bench.open();
  const good = requestText('GET /pets', [await bench.keyField()]);
  connection.write(`${good}${good}garbage\r\n\r\n`);
  expect((await connection.answer()).status).toBe(200);
  expect((await connection.answer()).status).toBe(200);
  expectError(await connection.answer(), 400, 'bad_request', 'nobody');
  await connection.closed();
});

describe('a request that does not arrive in time is 408, counted for nobody, and the connection is closed', () => {
  test.each([
    ['a request line without an end', 'GET /pets'],
    ['header fields without an end', 'GET /pets HTTP/1.1\r\nHost: test\r\n'],
    ['a field without an end', 'GET /pets HTTP/1.1\r\nHost: te'],
    ['a body that stops', post(['Content-Length: 12'], '{"name"')],
    ['a body that does not begin', post(['Content-Length: 12'])],
    ['chunks without an end', post(['Transfer-Encoding: chunked'], '5\r\n{"nam')],
    ['a good request, then one without an end', `${GOOD}GET /pets HTTP/1.1\r\n`],
  ])('%s', async (_what, bytes) => {
    impatient.forgetAddress();
    const connection = await impatient.open();
    connection.write(bytes);
    if (bytes.startsWith(GOOD)) expect((await connection.answer()).status).toBe(200);
    const answer = await connection.answer();
    expectError(answer, 408, 'request_timeout', 'nobody');
    expect(answer.headers.connection).toBe('close');
    await connection.closed();
    expect((await impatient.bytes(GOOD)).headers['x-ratelimit-remaining']).toBe('60');
  });
});

/** The next request that the service receives. */
function nextRequest(): Promise<[IncomingMessage, ServerResponse]> {
  const arrival = once(service.app.getHttpServer() as Server, 'request');
  return within('a request', arrival as Promise<[IncomingMessage, ServerResponse]>);
}

it('A request answered before its body arrived gets no second response', async () => {
  bench.forgetAddress();
  const connection = await bench.open();
  const arrival = nextRequest();
  connection.write(requestText('POST /nope', [JSON_TYPE, 'Content-Length: 70000'], '{"name"'));
  expectError(await connection.answer(), 404, 'route_not_found', 'address');
  const [{ socket }] = await arrival;
  // As Node does after half a minute.
  const tooLate = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  (service.app.getHttpServer() as Server).emit('clientError', tooLate, socket);
  await connection.closed();
});

it('A client that disconnects in the middle of its body is not counted, and the service did not fail', async () => {
  const field = await bench.keyField();
  const connection = await bench.open();
  const arrival = nextRequest();
  connection.write(requestText('POST /categories', [field, JSON_TYPE, 'Content-Length: 12'], '{"name"'));
  const [, response] = await arrival;
  connection.close();
  await within('the end of its response', once(response, 'close'));
  const standing = await exchange(service.port, requestText('GET /rate-limit', [field]));
  expect(standing.headers['x-ratelimit-remaining']).toBe('300');
  expect(service.log.lines.filter(({ level }) => Number(level) > 40)).toEqual([]);
});
