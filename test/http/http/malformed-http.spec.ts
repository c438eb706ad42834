import type { Server } from 'node:http';
import { until } from '../../support/eventually';
import { exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { RawRequests, expectError } from './support/raw-requests';

const service = useService();
const raw = new RawRequests(service);
const impatient = new RawRequests(useService({ timeouts: { headersMs: 250, requestMs: 300 } }));
const brisk = useService({ timeouts: { standstillMs: 400 } });
const stopping = useService();

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
    raw.forgetAddress();
    const connection = await raw.open();
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
    raw.forgetAddress();
    const connection = await raw.open();
    const good = get(await raw.keyField());
    connection.write(`${good}${good}garbage\r\n\r\n`);
    expect((await connection.answer()).status).toBe(200);
    expect((await connection.answer()).status).toBe(200);
    expectError(await connection.answer(), 400, 'bad_request', 'nobody');
    await connection.closed();
  });
});

describe('a request whose body breaks or never ends is its caller’s like any other, and the connection is closed', () => {
  const CHUNKS = 'Transfer-Encoding: chunked';
  const BROKEN: [what: string, line: string, fields: string[], body: string][] = [
    ['no size of a chunk', 'POST /categories', [CHUNKS], 'zz\r\n'],
    ['a chunk with more than its size', 'PATCH /pets/1', [CHUNKS], '1\r\n{}\r\n0\r\n\r\n'],
    ['of a read', 'GET /pets', [CHUNKS], '-1\r\n'],
    ['of a deprecated operation', 'GET /pets/1', [CHUNKS], '5\r\nab\r\n\r\n\r\n'],
  ];
  const OWN = ['X-Request-Id: mine', 'Origin: https://shop.example', JSON_TYPE];
  const OWED = { connection: 'close', 'x-request-id': 'mine', 'access-control-allow-origin': '*' };

  test.each(BROKEN)('%s: %s', async (_what, line, fields, body) => {
    const key = await raw.keyField();
    const connection = await raw.open();
    connection.write(requestText(line, [key, ...OWN, ...fields], body));
    const answer = await connection.answer();
    expectError(answer, 400, 'bad_request', 'key');
    expect(answer.headers).toMatchObject(OWED);
    expect(answer.headers.deprecation).toBe(line.endsWith('GET /pets/1') ? '@1793491200' : undefined);
    connection.write('more of it\r\n\r\n'.repeat(100));
    await connection.closed();
  });

  test('when it comes after the header section, or only the sending side is closed in the middle', async () => {
    for (const rest of ['zz\r\n', '5\r\n{"nam', '']) {
      const key = await raw.keyField();
      const connection = await raw.open();
      connection.write(post([key, CHUNKS]));
      await new Promise(setImmediate);
      connection.write(rest);
      connection.end();
      expectError(await connection.answer(), 400, 'bad_request', 'key');
      await connection.closed();
    }
  });

  test('while it waits for the response to the request before it', async () => {
    const key = await raw.keyField();
    const connection = await raw.open();
    connection.write(get(key) + get(key) + post([key, CHUNKS, 'X-Request-Id: mine'], 'zz\r\n'));
    expect((await connection.answer()).status).toBe(200);
    expect((await connection.answer()).status).toBe(200);
    const answer = await connection.answer();
    expect([answer.status, answer.headers['x-request-id']]).toEqual([400, 'mine']);
    expect(answer.headers['x-ratelimit-remaining']).toBe('297');
    await connection.closed();
  });

  test('at a page, and with a method that takes no body', async () => {
    for (const [line, status] of [
      ['GET /docs/guides', 400],
      ['OPTIONS /pets', 405],
      ['TRACE /pets', 405],
    ] as const) {
      const connection = await raw.open();
      connection.write(requestText(line, [CHUNKS, await raw.keyField()], 'zz\r\n'));
      expect([line, (await connection.answer()).status]).toEqual([line, status]);
      await connection.closed();
    }
  });

  test.each(['5\r\n{"nam', ''])('408 after %j', async (body) => {
    const key = await impatient.keyField();
    const connection = await impatient.open();
    connection.write(requestText('POST /categories', [key, ...OWN, CHUNKS], body));
    const answer = await connection.answer();
    expectError(answer, 408, 'request_timeout', 'key');
    expect(answer.headers).toMatchObject(OWED);
    await connection.closed();
  });

  test('without a key it is 401 first', async () => {
    expectError(await raw.bytes(post([CHUNKS], 'zz\r\n')), 401, 'missing_api_key', 'address');
  });
});

describe('what must not be interpreted is 400, counted for nobody, and the connection is closed', () => {
  test.each([
    ['no Host', 'GET /pets HTTP/1.1'],
    ['two Hosts in HTTP/1.0', 'GET /pets HTTP/1.0\r\nHost: a\r\nHost: a'],
    ['HTTP/1.0 with chunks', 'GET /pets HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked'],
    ['HTTP/2.0', 'GET /pets HTTP/2.0\r\nHost: a'],
    ['HTTP/0.9', 'GET /pets HTTP/0.9\r\nHost: a'],
    ['a Host with a path', 'GET /health/live HTTP/1.1\r\nHost: a/b'],
    ['no Host on an unknown path', 'POST /nope HTTP/1.1'],
    ['no Host in a preflight', 'OPTIONS /pets HTTP/1.1\r\nAccess-Control-Request-Method: PUT'],
  ])('%s', async (_what, head) => {
    const fields = ['Origin: https://shop.example', 'X-Request-Id: mine', await raw.keyField()];
    raw.forgetAddress();
    const connection = await raw.open();
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
      expect((await raw.bytes(text)).status).toBe(200);
    },
  );
});

it('An unknown Expect is served as if it were absent', async () => {
  const fields = [JSON_TYPE, 'Expect: 200-ok', 'Content-Length: 15'];
  const answer = await raw.withKey('POST /categories', fields, '{"name":"Dogs"}');
  expect(answer).toMatchObject({ status: 201, headers: { 'x-ratelimit-remaining': '299' } });
});

it('CONNECT is 400, after the response to the request before it', async () => {
  const connection = await raw.open();
  const body = '{"name":"Dogs"}';
  connection.write(post([await raw.keyField(), `Content-Length: ${body.length}`], body));
  connection.write('CONNECT petstore.example:443 HTTP/1.1\r\nHost: petstore.example\r\n\r\n');
  expect((await connection.answer()).status).toBe(201);
  const answer = await connection.answer();
  expectError(answer, 400, 'bad_request', 'nobody');
  expect(answer.headers.connection).toBe('close');
  connection.write('more of it');
  await connection.closed();
});

it('HTTP/1.0 is served, without Host, and the connection closed', async () => {
  const connection = await raw.open();
  connection.write(`GET /pets HTTP/1.0\r\n${await raw.keyField()}\r\n\r\n`);
  expect(await connection.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
  await connection.closed();
});

it('Many short header fields are all read: a condition after 1,000 others applies', async () => {
  const key = await raw.keyField();
  const created = await raw.bytes(post([key, 'Content-Length: 15'], '{"name":"Cats"}'));
  const many = Array<string>(1_000).fill('a:');
  const fields = [key, JSON_TYPE, 'Content-Length: 15', ...many, 'If-Match: "stale"'];
  const text = requestText(`PUT ${created.headers.location}`, fields, '{"name":"Dogs"}');
  expectError(await raw.bytes(text), 412, 'precondition_failed', 'key');
});

test.each([
  ['the first byte of a request after empty lines', '\r\n\r\nG'],
  ['header fields without an end', 'GET /pets HTTP/1.1\r\nHost: test\r\n'],
  ['a good request, then one without an end', `${GOOD}GET /pets HTTP/1.1\r\n`],
])(
  'a request that does not arrive in time is 408, counted for nobody, and the connection is closed %s',
  async (_what, bytes) => {
    impatient.forgetAddress();
    const connection = await impatient.open();
    connection.write(bytes);
    if (bytes.startsWith(GOOD)) expect((await connection.answer()).status).toBe(200);
    const answer = await connection.answer();
    expectError(answer, 408, 'request_timeout', 'nobody');
    expect(answer.headers.connection).toBe('close');
    await connection.closed();
    expect((await impatient.bytes(PREFLIGHT)).headers['x-ratelimit-remaining']).toBe('60');
  },
);

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

it('A connection whose client does not read responses is closed', async () => {
  const server = brisk.app.getHttpServer() as Server;
  // Nothing is read, so a client does not learn of the end either; the service's own side tells.
  const open = () =>
    new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  const before = await open();
  const connection = await new RawRequests(brisk).open();
  connection.pause();
  // Their responses are more than the system takes for a client that reads nothing.
  connection.write(requestText('GET /swagger/swagger-ui-bundle.js').repeat(100));
  await until(async () => (await open()) > before);
  await until(async () => (await open()) <= before);
  connection.close();
});

const JSON_FIELDS = [JSON_TYPE, 'Content-Length: 15'];

it('Who closes only the sending side gets the responses to all requests', async () => {
  const key = `X-API-Key: ${(await service.issueKey()).key}`;
  const connection = await raw.open();
  connection.write(requestText('POST /categories', [key, ...JSON_FIELDS], '{"name":"Dogs"}'));
  connection.write(requestText('GET /pets?limit=1', [key]).repeat(30));
  connection.write(requestText('GET /nope', [key]));
  connection.end();
  expect((await connection.answer()).status).toBe(201);
  for (let answered = 0; answered < 30; answered += 1) await connection.answer();
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

it('A CONNECT whose sender disconnects does no harm', async () => {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const connection = await raw.open();
    connection.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise(setImmediate);
    connection.reset();
  }
  expect((await raw.bytes(GOOD)).status).toBe(200);
});
