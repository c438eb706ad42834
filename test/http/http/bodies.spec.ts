import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { within } from '../../support/eventually';
import { exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { RawRequests, expectError } from './support/raw-requests';

const service = useService();
const raw = new RawRequests(service);

const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const LIMIT = 65_536;

/** The next request that the service receives. */
function nextRequest(): Promise<[IncomingMessage, ServerResponse]> {
  const arrival = once(service.app.getHttpServer() as Server, 'request');
  return within('a request', arrival as Promise<[IncomingMessage, ServerResponse]>);
}

/** Bodies are bytes, written as latin1 text. */
function send(line: string, fields: string[], body = '{"name":"A"}') {
  return raw.withKey(line, [...fields, `Content-Length: ${body.length}`], body);
}

function post(body: string) {
  return send('POST /categories', [JSON_TYPE], body);
}

const KEYED = [JSON_TYPE, 'Content-Length: 2', 'Idempotency-Key: a'];

// What is JSON and what is not is tested in test/unit/libs/http/validation.spec.ts.
test.each([
  ['malformed_json', [JSON_TYPE, 'Content-Length: 11'], '{"name":"A"', ''],
  ['validation_failed', [JSON_TYPE, 'Content-Length: 2'], '[]', 'a JSON object, such as {\\"name\\":'],
  ['validation_failed', [JSON_TYPE, 'Content-Length: 0'], '', 'needs a body'],
  ['validation_failed', [], '', 'needs a body'],
  ['validation_failed', [JSON_TYPE, CHUNKED], '0\r\n\r\n', 'needs a body'],
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
    const category = JSON.parse((await post('{"name":"A"}')).text) as { id: number };
    const created = await send('POST /pets', [JSON_TYPE], `{"name":"Rex","categoryId":${category.id}}`);
    const { id } = JSON.parse(created.text) as { id: number };
    const fields = ['Content-Type: application/merge-patch+json; charset=utf-8'];
    expect(await send(`PATCH /pets/${id}`, fields)).toMatchObject({ status: 200 });
  });
});

describe('a body without a byte is none, however it is framed', () => {
  const NO_BYTE: [string, string[]][] = [
    ['no chunk of a type', [CHUNKED, JSON_TYPE]],
    ['no chunk of an invalid type', [CHUNKED, 'Content-Type: json']],
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
      const text = requestText(line, [key, ...fields], fields.includes(CHUNKED) ? '0\r\n\r\n' : '');
      connection.write(text);
      const { status } = await connection.answer({ method });
      expect([line, status]).toEqual([line, method === 'DELETE' ? 204 : 200]);
    }
    connection.close();
  });

  test.each(['GET /pets', 'DELETE /categories/1', 'GET /health/live'])(
    'but one byte in a chunk is a body: %s',
    async (line) => {
      const answer = await raw.withKey(line, [CHUNKED, JSON_TYPE], '1\r\n1\r\n0\r\n\r\n');
      expect(answer.status).toBe(400);
    },
  );

  it('Chunks that come late are awaited', async () => {
    const connection = await raw.open();
    connection.write(requestText('GET /pets', [await raw.keyField(), CHUNKED]));
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
  ['in chunks', (body) => [[JSON_TYPE, CHUNKED], chunked(body, 1_000)]],
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
    const connection = await raw.open();
    const fields = [await raw.keyField(), framing, 'Content-Type: a/b'];
    connection.write(requestText('POST /categories', fields, sent));
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
    ['payload_too_large', 413, '/categories', 'a chunk that never ends', CHUNKED, endless],
    ['route_not_found', 404, '/nope', 'a length', 'Content-Length: 1000000000000', ''],
  ])('%s (%i) at %s, of %s', async (code, status, path, _what, framing, start) => {
    const fields = [JSON_TYPE, framing, await raw.keyField()];
    const connection = await raw.open();
    const arrival = nextRequest();
    connection.write(requestText(`POST ${path}`, fields, start + 'x'.repeat(LIMIT + 1)));
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
  const create = (fields: string[], body: string) =>
    requestText('POST /categories', [JSON_TYPE, ...fields], body);
  const hidden = (key: string) => create([key, 'Content-Length: 15'], '{"name":"Evil"} ');
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
    const key = await raw.keyField();
    const connection = await raw.open();
    connection.write(create([key, ...fields], `0\r\n\r\n${hidden(key)}`));
    const answer = await connection.answer();
    expect([answer.status, answer.headers.connection]).toEqual([400, 'close']);
    await connection.closed();
    await expectNotExecuted();
  });

  test.each(['GET /pets', 'GET /nope', 'GET /openapi.json'])(
    'is skipped where the operation has no body: %s',
    async (line) => {
      const key = await raw.keyField();
      const connection = await raw.open();
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

it('A request answered before its body arrived gets no second response', async () => {
  raw.forgetAddress();
  const connection = await raw.open();
  const arrival = nextRequest();
  connection.write(requestText('POST /nope', [JSON_TYPE, 'Content-Length: 70000'], '{"name"'));
  expectError(await connection.answer(), 404, 'route_not_found', 'address');
  const [{ socket }] = await arrival;
  // As Node does after half a minute.
  const tooLate = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  (service.app.getHttpServer() as Server).emit('clientError', tooLate, socket);
  await connection.closed();
});

it('A client whose connection is lost in the middle of its body is not counted, and the service did not fail', async () => {
  const field = await raw.keyField();
  const connection = await raw.open();
  const arrival = nextRequest();
  connection.write(requestText('POST /categories', [field, JSON_TYPE, 'Content-Length: 12'], '{"name"'));
  const [, response] = await arrival;
  connection.reset();
  await within('the end of its response', once(response, 'close'));
  const standing = await exchange(service.port, requestText('GET /rate-limit', [field]));
  expect(standing.headers['x-ratelimit-remaining']).toBe('300');
  expect(service.log.lines.filter(({ level }) => Number(level) > 40)).toEqual([]);
});
