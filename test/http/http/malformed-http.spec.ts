import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { until, within } from '../../support/eventually';
import { exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { RawRequests, expectError } from './support/raw-requests';

const service = useService();
const raw = new RawRequests(service);
const impatient = new RawRequests(useService({ timeouts: { headersMs: 250, requestMs: 300 } }));
const brisk = useService({ timeouts: { standstillMs: 400 } });
const stopping = useService();

const JSON_TYPE = 'Content-Type: application/json';
const CHUNKS = 'Transfer-Encoding: chunked';
const LIMIT = 65_536;
const GOOD = requestText('GET /health/live');
/** A request whose answer shows the limits of the address, and which is not counted itself. */
const PREFLIGHT = requestText('OPTIONS /pets', [
  'Origin: https://shop.example',
  'Access-Control-Request-Method: GET',
]);
const post = (fields: string[], body = '') => requestText('POST /categories', [JSON_TYPE, ...fields], body);
const get = (...fields: string[]) => requestText('GET /pets', fields);

/** The next request that the service receives. */
function nextRequest(): Promise<[IncomingMessage, ServerResponse]> {
  const arrival = once(service.app.getHttpServer() as Server, 'request');
  return within('a request', arrival as Promise<[IncomingMessage, ServerResponse]>);
}

/** Sends a body whose bytes are written as latin1 text. */
function send(line: string, fields: string[], body = '{"name":"A"}') {
  return raw.withKey(line, [...fields, `Content-Length: ${body.length}`], body);
}

/** Bytes that Node's parser refuses, so that the service never sees a request. */
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
    const connection = await raw.open(bytes);
    const answer = await connection.answer();
    expectError(answer, status, code, 'nobody');
    expect(answer.headers.connection).toBe('close');
    connection.write('more of it\r\n\r\n'.repeat(100));
    await connection.closed();
    const { headers } = await exchange(service.port, PREFLIGHT);
    expect(headers['x-ratelimit-remaining']).toBe('60');
  });

  it.each([
    ['requests', 200, async () => get(await raw.keyField())],
    // Node lets responses be sent between two requests of a packet if the requests have bodies.
    ['requests with bodies', 400, async () => post([await raw.keyField(), 'Content-Length: 1'], 'x')],
  ])('after %s, whose responses it does not affect', async (_what, status, request) => {
    raw.forgetAddress();
    const text = await request();
    const connection = await raw.open(`${text}${text}garbage\r\n\r\n`);
    expect((await connection.answer()).status).toBe(status);
    expect((await connection.answer()).status).toBe(status);
    expectError(await connection.answer(), 400, 'bad_request', 'nobody');
    await connection.closed();
  });
});

it('A packet with a thousand requests that have bodies gets a response to each', async () => {
  const text = requestText('OPTIONS *', ['Content-Length: 1'], 'x');
  raw.forgetAddress();
  const connection = await raw.open(text.repeat(1_000));
  for (let count = 0; count < 1_000; count += 1) {
    expect([405, 429]).toContain((await connection.answer()).status);
  }
});

describe('a request whose body breaks or never ends is its caller’s like any other, and the connection is closed', () => {
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
    const connection = await raw.open(requestText(line, [key, ...OWN, ...fields], body));
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
      const connection = await raw.open(post([key, CHUNKS]));
      await new Promise(setImmediate);
      connection.write(rest);
      connection.end();
      expectError(await connection.answer(), 400, 'bad_request', 'key');
      await connection.closed();
    }
  });

  test('while it waits for the response to the request before it', async () => {
    const key = await raw.keyField();
    const connection = await raw.open(
      get(key) + get(key) + post([key, CHUNKS, 'X-Request-Id: mine'], 'zz\r\n'),
    );
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
      const connection = await raw.open(requestText(line, [CHUNKS, await raw.keyField()], 'zz\r\n'));
      expect([line, (await connection.answer()).status]).toEqual([line, status]);
      await connection.closed();
    }
  });

  test('and is not counted if its operation never is', async () => {
    for (const [fields, body, status] of [
      [[CHUNKS], 'zz\r\n', 400],
      [[`Content-Length: ${LIMIT + 1}`], '', 413],
    ] as const) {
      const key = await raw.keyField();
      const connection = await raw.open(requestText('GET /rate-limit', [key, ...fields], body));
      const { status: answered, headers } = await connection.answer();
      expect([answered, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual([
        status,
        '300',
        '300',
      ]);
      await connection.closed();
    }
  });

  test.each(['5\r\n{"nam', ''])('408 after %j', async (body) => {
    const key = await impatient.keyField();
    const connection = await impatient.open(requestText('POST /categories', [key, ...OWN, CHUNKS], body));
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
    const connection = await raw.open(`${head}\r\n${fields.join('\r\n')}\r\n\r\n`);
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
});

it('An unknown Expect is served as if it were absent', async () => {
  const fields = [JSON_TYPE, 'Expect: 200-ok', 'Content-Length: 15'];
  const answer = await raw.withKey('POST /categories', fields, '{"name":"Dogs"}');
  expect(answer).toMatchObject({ status: 201, headers: { 'x-ratelimit-remaining': '299' } });
});

it('CONNECT is 400, after the response to the request before it', async () => {
  const connection = await raw.open(post([await raw.keyField(), 'Content-Length: 15'], '{"name":"Dogs"}'));
  connection.write('CONNECT petstore.example:443 HTTP/1.1\r\nHost: petstore.example\r\n\r\n');
  expect((await connection.answer()).status).toBe(201);
  const answer = await connection.answer();
  expectError(answer, 400, 'bad_request', 'nobody');
  expect(answer.headers.connection).toBe('close');
  connection.write('more of it');
  await connection.closed();
});

it('HTTP/1.0 is served, without Host, and the connection closed', async () => {
  const connection = await raw.open(`GET /pets HTTP/1.0\r\n${await raw.keyField()}\r\n\r\n`);
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
])('a request that is not there in time is 408, and the connection closed: %s', async (_what, bytes) => {
  impatient.forgetAddress();
  const connection = await impatient.open(bytes);
  if (bytes.startsWith(GOOD)) expect((await connection.answer()).status).toBe(200);
  const answer = await connection.answer();
  expectError(answer, 408, 'request_timeout', 'nobody');
  expect(answer.headers.connection).toBe('close');
  await connection.closed();
  expect((await impatient.bytes(PREFLIGHT)).headers['x-ratelimit-remaining']).toBe('60');
});

it('A connection that has brought nothing but empty lines is closed without a response', async () => {
  const connection = await impatient.open('\r\n\r\n\n');
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
  // A client that does not read does not notice the end of its connection, so the server is asked.
  const open = () =>
    new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  const before = await open();
  const connection = await new RawRequests(brisk).open();
  connection.pause();
  // The responses are larger than the buffers of the system for a client that does not read.
  connection.write(requestText('GET /swagger/swagger-ui-bundle.js').repeat(100));
  await until(async () => (await open()) > before);
  await until(async () => (await open()) <= before);
  connection.close();
});

it('While the service stops, every response says that the connection closes; before, only to who asked', async () => {
  const key = `X-API-Key: ${(await stopping.issueKey()).key}`;
  const requests: [status: number, line: string, fields: string[], body?: string][] = [
    [200, 'GET /pets', [key]],
    [200, 'GET /health/live', []],
    [200, 'GET /openapi.json', []],
    [400, 'GET /pets?limit=0', [key]],
    [400, 'POST /categories', [key, JSON_TYPE, 'Content-Length: 15'], '{"name":"Dogs"'.padEnd(15)],
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
    const connection = await raw.open('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise(setImmediate);
    connection.reset();
  }
  expect((await raw.bytes(GOOD)).status).toBe(200);
});

const KEYED = [JSON_TYPE, 'Content-Length: 2', 'Idempotency-Key: a'];

// test/unit/libs/http/validation.spec.ts tests which texts are JSON.
test.each([
  ['malformed_json', [JSON_TYPE, 'Content-Length: 11'], '{"name":"A"', ''],
  ['validation_failed', [JSON_TYPE, 'Content-Length: 2'], '[]', 'a JSON object, such as {\\"name\\":'],
  ['validation_failed', [JSON_TYPE, 'Content-Length: 0'], '', 'needs a body'],
  ['validation_failed', [], '', 'needs a body'],
  ['validation_failed', [JSON_TYPE, CHUNKS], '0\r\n\r\n', 'needs a body'],
  ['validation_failed', [...KEYED, '__proto__: x', 'Idempotency-Key: b'], '{}', 'must be given once'],
])('400 %s: with %j, the body %j', async (code, fields, body, message) => {
  const answer = await raw.withKey('POST /categories', fields, body);
  expectError(answer, 400, code, 'key');
  expect(answer.text).toContain(message);
});

describe('a body with an unsupported type, character set or coding is 415, whose message names the problem', () => {
  const OTHER_TYPE = 'Content-Type must be application/json.';
  test.each([
    ['no type', [], OTHER_TYPE],
    ['a form', ['Content-Type: application/x-www-form-urlencoded'], OTHER_TYPE],
    ['a similar type', ['Content-Type: application/vnd.api+json'], OTHER_TYPE],
    ['two types', ['Content-Type: application/json, text/plain'], OTHER_TYPE],
    ['no valid type', ['Content-Type: /'], OTHER_TYPE],
    [
      'a charset',
      ['Content-Type: application/json; charset=utf-16'],
      'The charset of the body must be UTF-8.',
    ],
    ['a type with a character after it', ['Content-Type: application/json\xa0'], OTHER_TYPE],
    ['one of two types', [JSON_TYPE, 'Content-Type: text/plain'], 'Content-Type must be given once.'],
    ['a coding', [JSON_TYPE, 'Content-Encoding: gzip'], 'The body must be sent without a Content-Encoding.'],
  ])('%s', async (_what, fields, message) => {
    const answer = await send('POST /categories', fields);
    expectError(answer, 415, 'unsupported_media_type', 'key');
    expect(JSON.parse(answer.text)).toMatchObject({ message });
    expect(answer.headers).toMatchObject({ accept: 'application/json', 'accept-encoding': 'identity' });
  });

  it('and a PATCH names both of its types', async () => {
    const { text, headers } = await send('PATCH /pets/1', ['Content-Type: text/plain']);
    expect(text).toContain('Content-Type must be application/json or application/merge-patch+json.');
    expect(headers.accept).toBe('application/json, application/merge-patch+json');
  });
});

describe('a body of the right type is accepted', () => {
  test.each([
    'Content-Type: APPLICATION/JSON;',
    ...['UTF8', ' "UTF-8"', "'utf-8'", '', '""', 'us-ascii', 'utf-8; charset=utf8'].map(
      (charset) => `Content-Type: application/json ; charset=${charset}`,
    ),
    'Content-Type: application/json; profile="a;charset=x"; odata.metadata=minimal',
    'Content-Type: application/json\r\nContent-Type: application/json',
    'Content-Encoding: identity\r\nContent-Type: application/json',
  ])('%s', async (fields) => {
    expect((await send('POST /categories', [fields])).status).toBe(201);
  });

  it('PATCH accepts merge patches as well', async () => {
    const category = JSON.parse((await send('POST /categories', [JSON_TYPE])).text) as { id: number };
    const created = await send('POST /pets', [JSON_TYPE], `{"name":"Rex","categoryId":${category.id}}`);
    const { id } = JSON.parse(created.text) as { id: number };
    const fields = ['Content-Type: application/merge-patch+json; charset=utf-8'];
    expect(await send(`PATCH /pets/${id}`, fields)).toMatchObject({ status: 200 });
  });
});

describe('a body without a byte is none, however it is framed', () => {
  const NO_BYTE: [string, string[]][] = [
    ['no chunk of a type', [CHUNKS, JSON_TYPE]],
    ['no chunk of an invalid type', [CHUNKS, 'Content-Type: json']],
    ['a length of 0 and a type', ['Content-Length: 0', JSON_TYPE]],
    ['no length and an invalid type', ['Content-Type: json']],
  ];
  test.each(NO_BYTE)('%s', async (_what, fields) => {
    const key = await raw.keyField();
    const { headers } = await send('POST /categories', [key, JSON_TYPE]);
    const connection = await raw.open();
    for (const line of [
      'GET /health/live',
      'GET /openapi.json',
      'HEAD /pets',
      `DELETE ${headers.location}`,
    ]) {
      const [method] = line.split(' ');
      const text = requestText(line, [key, ...fields], fields.includes(CHUNKS) ? '0\r\n\r\n' : '');
      connection.write(text);
      const { status } = await connection.answer({ method });
      expect([line, status]).toEqual([line, method === 'DELETE' ? 204 : 200]);
    }
    connection.close();
  });

  test.each(['GET /pets', 'DELETE /categories/1', 'GET /health/live'])(
    'but one byte in a chunk is a body: %s',
    async (line) => {
      const answer = await raw.withKey(line, [CHUNKS, JSON_TYPE], '1\r\n1\r\n0\r\n\r\n');
      expect(answer.status).toBe(400);
    },
  );

  it('Chunks that come late are awaited', async () => {
    const connection = await raw.open(requestText('GET /pets', [await raw.keyField(), CHUNKS]));
    await new Promise(setImmediate);
    connection.write('0\r\n\r\n');
    expect((await connection.answer()).status).toBe(200);
    connection.close();
  });
});

/** A valid body of exactly this many bytes. */
function bodyOf(bytes: number): string {
  const body = '{"name":"A"}';
  return body + ' '.repeat(bytes - body.length);
}

function chunked(body: string, size: number): string {
  const chunks = body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`;
}

const WAYS: [string, (body: string) => [string[], string]][] = [
  ['with its length', (body) => [[JSON_TYPE, `Content-Length: ${body.length}`], body]],
  ['in chunks', (body) => [[JSON_TYPE, CHUNKS], chunked(body, 1_000)]],
];

describe.each(WAYS)('a body sent %s', (_way, frame) => {
  it('is accepted with 64 KiB, and 413 with one more byte', async () => {
    const accepted = await raw.withKey('POST /categories', ...frame(bodyOf(LIMIT)));
    expect(accepted.status).toBe(201);
    const refused = await raw.withKey('POST /categories', ...frame(bodyOf(LIMIT + 1)));
    expectError(refused, 413, 'payload_too_large', 'key');
    expect(refused.text).toContain('65536 bytes');
  });

  it('leaves the connection usable if it is refused when it has arrived', async () => {
    const [[, framing = ''], sent] = frame(bodyOf(LIMIT));
    const fields = [await raw.keyField(), framing, 'Content-Type: a/b'];
    const connection = await raw.open(requestText('POST /categories', fields, sent));
    expect((await connection.answer()).status).toBe(415);
    connection.write(requestText('GET /health/live'));
    expect(await connection.answer()).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    connection.close();
  });
});

describe('a body that is refused while it arrives ends the connection, however much follows', () => {
  const MIB = 1024 * 1024;
  const endless = `${(MIB * 100).toString(16)}\r\n`;

  test.each([
    ['payload_too_large', 413, '/categories', 'a chunk that never ends', CHUNKS, endless],
    ['route_not_found', 404, '/nope', 'a length', 'Content-Length: 1000000000000', ''],
  ])('%s (%i) at %s, of %s', async (code, status, path, _what, framing, start) => {
    const fields = [JSON_TYPE, framing, await raw.keyField()];
    const arrival = nextRequest();
    const connection = await raw.open(requestText(`POST ${path}`, fields, start + 'x'.repeat(LIMIT + 1)));
    const answer = await connection.answer();
    expectError(answer, status, code, 'key');
    expect(answer.headers.connection).toBe('close');
    const [{ socket }] = await arrival;
    const lost = once(socket, 'close');
    connection.write('x'.repeat(16 * MIB));
    await lost;
    connection.close();
  });
});

describe('a request hidden in a body', () => {
  const hidden = (key: string) => post([key, 'Content-Length: 15'], '{"name":"Evil"} ');
  async function expectNotExecuted(): Promise<void> {
    const { rows } = await service.database.pool.query(`SELECT FROM categories WHERE name = 'Evil'`);
    expect(rows).toEqual([]);
  }

  // Two servers could disagree where these bodies end.
  test.each([
    ['length, then chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
    ['two lengths', ['Content-Length: 0', 'Content-Length: 300']],
    ['chunks with a space before the colon', ['Transfer-Encoding : chunked']],
    ['chunks after another coding', ['Transfer-Encoding: gzip, chunked']],
    ['a field ended by LF alone', ['X: a\nTransfer-Encoding: chunked']],
  ])('is not executed, and the connection ends: %s', async (_what, fields) => {
    const key = await raw.keyField();
    const connection = await raw.open(post([key, ...fields], `0\r\n\r\n${hidden(key)}`));
    const answer = await connection.answer();
    expect([answer.status, answer.headers.connection]).toEqual([400, 'close']);
    await connection.closed();
    await expectNotExecuted();
  });

  test.each(['GET /pets', 'GET /nope', 'GET /openapi.json'])(
    'is skipped where the operation has no body: %s',
    async (line) => {
      const key = await raw.keyField();
      const body = hidden(key);
      const connection = await raw.open(requestText(line, [key, `Content-Length: ${body.length}`], body));
      await connection.answer();
      connection.write(requestText('GET /health/live', ['X-Request-Id: next']));
      expect((await connection.answer()).headers['x-request-id']).toBe('next');
      await expectNotExecuted();
      connection.close();
    },
  );
});

it('A request answered before its body arrived gets no second response', async () => {
  raw.forgetAddress();
  const arrival = nextRequest();
  const connection = await raw.open(
    requestText('POST /nope', [JSON_TYPE, 'Content-Length: 70000'], '{"name"'),
  );
  expectError(await connection.answer(), 404, 'route_not_found', 'address');
  const [{ socket }] = await arrival;
  // Node does the same when half a minute has passed.
  const tooLate = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  (service.app.getHttpServer() as Server).emit('clientError', tooLate, socket);
  await connection.closed();
});

it('A client whose connection is lost in the middle of its body is not counted, and the service did not fail', async () => {
  const field = await raw.keyField();
  const arrival = nextRequest();
  const connection = await raw.open(post([field, 'Content-Length: 12'], '{"name"'));
  const [, response] = await arrival;
  connection.reset();
  await within('the end of its response', once(response, 'close'));
  const rateLimit = await exchange(service.port, requestText('GET /rate-limit', [field]));
  expect(rateLimit.headers['x-ratelimit-remaining']).toBe('300');
  expect(service.log.lines.filter(({ level }) => Number(level) > 40)).toEqual([]);
});
