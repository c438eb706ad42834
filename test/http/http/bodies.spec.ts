import { requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { Bench, expectError } from './support/bench';

const service = useService();
const bench = new Bench(service);

const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const LIMIT = 65_536;

/** Bodies are bytes, written as latin1 text. */
function send(line: string, fields: string[], body = '{"name":"A"}') {
  return bench.withKey(line, [...fields, `Content-Length: ${body.length}`], body);
}

function post(body: string) {
  return send('POST /categories', [JSON_TYPE], body);
}

test.each([
  ['ends too early', '{"name":"A"'],
  ['is nested too deeply to parse', '['.repeat(60_000)],
])('a body that %s is 400 malformed_json', async (_what, body) => {
  expectError(await post(body), 400, 'malformed_json', 'key');
});

describe('a body that is not a JSON object is 400 validation_failed', () => {
  test.each(['[]', 'null', `${'['.repeat(5_000)}${']'.repeat(5_000)}`])('%.20s', async (body) => {
    const answer = await post(body);
    expectError(answer, 400, 'validation_failed', 'key');
    expect(answer.text).toContain('JSON object');
  });

  test.each([
    ['a length of 0', [JSON_TYPE, 'Content-Length: 0'], ''],
    ['neither length nor type', [], ''],
    ['no chunk', [JSON_TYPE, CHUNKED], '0\r\n\r\n'],
  ])('no body: %s', async (_what, fields, body) => {
    const answer = await bench.withKey('POST /categories', fields, body);
    expectError(answer, 400, 'validation_failed', 'key');
    expect(answer.text).toContain('needs a body');
  });
});

describe('a body with an unsupported type, character set or coding is 415', () => {
  test.each([
    ['no type', []],
    ['a form', ['Content-Type: application/x-www-form-urlencoded']],
    ['a similar type', ['Content-Type: application/vnd.api+json']],
    ['two types', ['Content-Type: application/json, text/plain']],
    ['no valid type', ['Content-Type: /']],
    ['another character set', ['Content-Type: application/json; charset=utf-16']],
    ['a coding', [JSON_TYPE, 'Content-Encoding: gzip']],
  ])('%s', async (_what, fields) => {
    expectError(await send('POST /categories', fields), 415, 'unsupported_media_type', 'key');
  });
});

describe('a body of the right type is accepted', () => {
  test.each([
    'Content-Type: APPLICATION/JSON',
    'Content-Type: application/json ; charset="UTF-8"',
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
  it('is accepted with 64 KiB', async () => {
    const answer = await bench.withKey('POST /categories', ...frame(bodyOf(LIMIT)));
    expect(answer.status).toBe(201);
  });

  it('is 413 with one more byte', async () => {
    const answer = await bench.withKey('POST /categories', ...frame(bodyOf(LIMIT + 1)));
    expectError(answer, 413, 'payload_too_large', 'key');
    expect(answer.text).toContain('65536 bytes');
  });

  test.each([
    ['413', true, bodyOf(LIMIT * 8)],
    ['401', false, bodyOf(LIMIT * 8)],
    ['415', true, bodyOf(LIMIT)],
  ])('leaves the connection usable after %s', async (status, withKey, body) => {
    const [[type = '', framing = ''], sent] = frame(body);
    const fields = [...(withKey ? [await bench.keyField()] : []), framing];
    const connection = await bench.open();
    connection.write(
      requestText('POST /categories', [...fields, status === '415' ? 'Content-Type: a/b' : type], sent),
    );
    expect((await connection.answer()).status).toBe(Number(status));
    connection.write(requestText('GET /health/live'));
    expect(await connection.answer()).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    connection.close();
  });
});

it('A length above the limit is refused before the body is sent', async () => {
  const answer = await bench.withKey('POST /categories', [JSON_TYPE, 'Content-Length: 1000000000000']);
  expectError(answer, 413, 'payload_too_large', 'key');
});

it('A chunk that never ends is refused as soon as it is too large', async () => {
  const body = `${(LIMIT * 100).toString(16)}\r\n${'x'.repeat(LIMIT + 1)}`;
  const answer = await bench.withKey('POST /categories', [JSON_TYPE, CHUNKED], body);
  expectError(answer, 413, 'payload_too_large', 'key');
});

it('A client that waits for 100 Continue gets it, and its body is read', async () => {
  const connection = await bench.open();
  const fields = [JSON_TYPE, 'Expect: 100-continue', 'Content-Length: 12'];
  connection.write(requestText('POST /categories', [await bench.keyField(), ...fields]));
  expect((await connection.answer()).status).toBe(100);
  connection.write('{"name":"A"}');
  expect((await connection.answer()).status).toBe(201);
  connection.close();
});

it('A body of thousands of fields is refused before it is parsed; text that looks like fields is none', async () => {
  const fields = Array.from({ length: 6_000 }, (_none, index) => `"${index}\\"":1`);
  const answer = await post(`{${fields.join(',')}}`);
  expectError(answer, 400, 'validation_failed', 'key');
  expect(answer.text).toContain('at most 100 fields');
  expect((await post(`{"name":"A","description":"${'\\":1,'.repeat(300)}"}`)).status).toBe(201);
});
