import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { within } from '../../support/eventually';
import { exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { Bench, expectError } from './support/bench';

const service = useService();
const bench = new Bench(service);
const impatient = new Bench(useService({ timeouts: { headersMs: 250, requestMs: 300 } }));

const JSON_TYPE = 'Content-Type: application/json';
const GOOD = requestText('GET /health/live');
/** Shows the limits of the address and is not counted itself. */
const PREFLIGHT = requestText('OPTIONS /pets', [
  'Origin: https://shop.example',
  'Access-Control-Request-Method: GET',
]);
const post = (fields: string[], body = '') => requestText('POST /categories', [JSON_TYPE, ...fields], body);
const get = (...fields: string[]) => requestText('GET /pets', fields);

/** Refused by Node's parser before there is a request. */
const MALFORMED: [what: string, bytes: string | Buffer, status: number, code: string][] = [
  ['a TLS greeting', Buffer.from('16030100a5010000a1', 'hex'), 400, 'bad_request'],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'bad_request'],
  ['an unknown method', requestText('BREW /pets'), 400, 'bad_request'],
  ['a target with bytes that are no ASCII', requestText('GET /pets/\xff'), 400, 'bad_request'],
  ['a NUL in a field', get('Origin: x\0y'), 400, 'bad_request'],
  ['a folded field', get('A: b', ' c'), 400, 'bad_request'],
  ['4,000 fields', get(...Array<string>(4_000).fill('A-Field: b')), 431, 'headers_too_large'],
  ['a target of 20 KB', requestText(`GET /pets/${'1'.repeat(20_000)}`), 431, 'headers_too_large'],
];

describe('malformed HTTP is answered on the socket, counted for nobody, and the connection is closed', () => {
  test.each(MALFORMED)('%s', async (_what, bytes, status, code) => {
    bench.forgetAddress();
    const connection = await bench.open();
    connection.write(bytes);
    const answer = await connection.answer();
    expectError(answer, status, code, 'nobody');
    expect(answer.headers.connection).toBe('close');
    connection.write('more of it\r\n\r\n'.repeat(100));
    await connection.closed();
    const { headers } = await exchange(service.port, PREFLIGHT);
    expect(headers['x-ratelimit-remaining']).toBe('60');
  });

  it('after valid requests, whose responses it does not affect', async () => {
    bench.forgetAddress();
    const connection = await bench.open();
    const good = get(await bench.keyField());
    connection.write(`${good}${good}garbage\r\n\r\n`);
    expect((await connection.answer()).status).toBe(200);
    expect((await connection.answer()).status).toBe(200);
    expectError(await connection.answer(), 400, 'bad_request', 'nobody');
    await connection.closed();
  });

  it('in the middle of a body, in place of its request', async () => {
    const text = `${post(['Transfer-Encoding: chunked', await bench.keyField()])}zz\r\n`;
    expectError(await bench.bytes(text), 400, 'bad_request', 'nobody');
  });
});

describe('what must not be interpreted is 400, counted for nobody, and the connection is closed', () => {
  test.each([
    ['no Host', 'GET /pets HTTP/1.1'],
    ['two Hosts in HTTP/1.0', 'GET /pets HTTP/1.0\r\nHost: a\r\nHost: a'],
    ['a Host with a path', 'GET /health/live HTTP/1.1\r\nHost: a/b'],
    ['no Host on an unknown path', 'POST /nope HTTP/1.1'],
    ['no Host in a preflight', 'OPTIONS /pets HTTP/1.1\r\nAccess-Control-Request-Method: PUT'],
  ])('%s', async (_what, head) => {
    const fields = ['Origin: https://shop.example', 'X-Request-Id: mine', await bench.keyField()];
    bench.forgetAddress();
    const connection = await bench.open();
    connection.write(`${head}\r\n${fields.join('\r\n')}\r\n\r\n`);
    const answer = await connection.answer();
    expectError(answer, 400, 'bad_request', 'nobody');
    expect(answer.headers).toMatchObject({
      connection: 'close',
      'x-request-id': 'mine',
      'access-control-allow-origin': '*',
    });
    await connection.closed();
    expect(service.log.lines).toContainEqual(expect.objectContaining({ reqId: 'mine', status: 400 }));
  });

  test.each(['', '127.0.0.1:', '[::1]:3000', 'pet-store_1.example', 'a%20b'])(
    'but Host: %s is served',
    async (host) => {
      const text = GOOD.replace('Host: test', `Host: ${host}`);
      expect((await bench.bytes(text)).status).toBe(200);
    },
  );
});

it('An unknown Expect is served as if it were absent', async () => {
  const fields = [JSON_TYPE, 'Expect: 200-ok', 'Content-Length: 15'];
  const answer = await bench.withKey('POST /categories', fields, '{"name":"Dogs"}');
  expect(answer).toMatchObject({ status: 201, headers: { 'x-ratelimit-remaining': '299' } });
});

it('CONNECT is 400, after the response to the request before it', async () => {
  const connection = await bench.open();
  const body = '{"name":"Dogs"}';
  connection.write(post([await bench.keyField(), `Content-Length: ${body.length}`], body));
  connection.write('CONNECT petstore.example:443 HTTP/1.1\r\nHost: petstore.example\r\n\r\n');
  expect((await connection.answer()).status).toBe(201);
  const answer = await connection.answer();
  expectError(answer, 400, 'bad_request', 'nobody');
  expect(answer.headers.connection).toBe('close');
  connection.write('more of it');
  await connection.closed();
});

it('HTTP/1.0 is served, without Host, and the connection closed', async () => {
  const connection = await bench.open();
  connection.write(`GET /pets HTTP/1.0\r\n${await bench.keyField()}\r\n\r\n`);
  expect(await connection.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
  await connection.closed();
});

it('Many short header fields are all read: a condition after 1,000 others applies', async () => {
  const key = await bench.keyField();
  const created = await bench.bytes(post([key, 'Content-Length: 15'], '{"name":"Cats"}'));
  const many = Array<string>(1_000).fill('a:');
  const fields = [key, JSON_TYPE, 'Content-Length: 15', ...many, 'If-Match: "stale"'];
  const text = requestText(`PUT ${created.headers.location}`, fields, '{"name":"Dogs"}');
  expectError(await bench.bytes(text), 412, 'precondition_failed', 'key');
});

describe('a request hidden in a body', () => {
  const hidden = (key: string) => post([key, 'Content-Length: 15'], '{"name":"Evil"} ');
  async function expectNotExecuted(): Promise<void> {
    const { rows } = await service.database.pool.query(`SELECT FROM categories WHERE name = 'Evil'`);
    expect(rows).toEqual([]);
  }

  // Bodies whose end two servers could see at different places.
  test.each([
    ['length, then chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
    ['two lengths', ['Content-Length: 0', 'Content-Length: 300']],
    ['chunks with a space before the colon', ['Transfer-Encoding : chunked']],
    ['chunks after another coding', ['Transfer-Encoding: gzip, chunked']],
    ['a field ended by LF alone', ['X: a\nTransfer-Encoding: chunked']],
  ])('is not executed, and the connection ends: %s', async (_what, fields) => {
    const key = await bench.keyField();
    const connection = await bench.open();
    connection.write(post([key, ...fields], `0\r\n\r\n${hidden(key)}`));
    const answer = await connection.answer();
    expect([answer.status, answer.headers.connection]).toEqual([400, 'close']);
    await connection.closed();
    await expectNotExecuted();
  });

  test.each(['GET /pets', 'GET /nope', 'GET /openapi.json'])(
    'is skipped where the operation has no body: %s',
    async (line) => {
      const key = await bench.keyField();
      const connection = await bench.open();
      const body = hidden(key);
      connection.write(requestText(line, [key, `Content-Length: ${body.length}`], body));
      await connection.answer();
      connection.write(requestText('GET /health/live', ['X-Request-Id: next']));
      expect((await connection.answer()).headers['x-request-id']).toBe('next');
      await expectNotExecuted();
      connection.close();
    },
  );
});

describe('a request that does not arrive in time is 408, counted for nobody, and the connection is closed', () => {
  test.each([
    ['the first byte of a request after empty lines', '\r\n\r\nG'],
    ['header fields without an end', 'GET /pets HTTP/1.1\r\nHost: test\r\n'],
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
    expect((await impatient.bytes(PREFLIGHT)).headers['x-ratelimit-remaining']).toBe('60');
  });
});

it('A connection that has brought nothing but empty lines is closed without a response', async () => {
  const connection = await impatient.open();
  connection.write('\r\n\r\n\n');
  await connection.closed();
});

it('A request that waits for the response before it is not late', async () => {
  const key = await impatient.keyField();
  const connection = await impatient.open();
  const wait = requestText('GET /events?cursor=now&wait=1', [key]);
  connection.write(wait + requestText('POST /categories', [key, JSON_TYPE, 'Content-Length: 15'], '{"name"'));
  expect((await connection.answer()).status).toBe(200);
  connection.write(':"Dogs"}');
  expect((await connection.answer()).status).toBe(201);
  connection.close();
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
