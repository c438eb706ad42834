import { Bench, expectError } from './support/bench';
import { requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

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
  ['is two values', '{"name":"A"}{}'],
  ['has a byte that is invalid in UTF-8', '{"name":"\xff"}'],
  ['is nested too deeply to parse', '['.repeat(60_000)],
])('a body that %s is 400 malformed_json', async (_what, body) => {
  expectError(await post(body), 400, 'malformed_json', 'key');
});

test('A body of a member that reaches into a prototype is refused, and none is changed', async () => {
  expectError(await post('{"name":"A","__proto__":{"description":"x"}}'), 400, 'validation_failed', 'key');
  expect(({} as { description?: string }).description).toBeUndefined();
});

describe('a JSON body that is not an object is 400 validation_failed', () => {
  test.each(['[]', '1', 'null', `${'['.repeat(5_000)}${']'.repeat(5_000)}`])('%.20s', async (body) => {
    const answer = await post(body);
    expectError(answer, 400, 'validation_failed', 'key');
    expect(answer.text).toContain('JSON object');
  });

  test.each([
    ['a length of 0', ['Content-Type: application/json', 'Content-Length: 0'], ''],
    ['no length', ['Content-Type: application/json'], ''],
    ['neither length nor type', [], ''],
    ['no chunk', ['Content-Type: application/json', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ])('no body: %s', async (_what, fields, body) => {
    const answer = await bench.withKey('POST /categories', fields, body);
    expectError(answer, 400, 'validation_failed', 'key');
    expect(answer.text).toContain('needs a body');
  });
});

describe('an operation without a body refuses one', () => {
  test.each(['GET /categories', 'DELETE /categories/999', 'POST /webhooks/1/test'])('%s', async (line) => {
    const plain = await bench.withKey(line, ['Content-Length: 0']);
    const loaded = await bench.withKey(line, ['Content-Type: application/json', 'Content-Length: 2'], '{}');
    expect(plain.text).not.toContain('body');
    expectError(loaded, 400, 'validation_failed', 'key');
    expect(loaded.text).toContain('takes no body');
  });
});

const REFUSED = [
  [],
  ['Content-Type:'],
  ['Content-Type: text/plain'],
  ['Content-Type: application/x-www-form-urlencoded'],
  ['Content-Type: multipart/form-data; boundary=x'],
  ['Content-Type: application/jsonp'],
  ['Content-Type: application/vnd.api+json'],
  ['Content-Type: application/json; charset=latin1'],
  ['Content-Type: application/json; charset=utf-16'],
  ['Content-Type: application/json; charset='],
  ['Content-Type: /'],
  ['Content-Type: application'],
  ['Content-Type: application/json/x'],
  ['Content-Type: application json'],
  ['Content-Type: application/json, text/plain'],
  ['Content-Type: application/json', 'Content-Encoding: gzip'],
  ['Content-Type: application/json', 'Content-Encoding: br'],
  ['Content-Type: application/json', 'Content-Encoding: identity, gzip'],
];

const TAKEN = [
  ['Content-Type: application/json'],
  ['Content-Type: APPLICATION/JSON'],
  ['Content-Type: application/json;charset=utf-8'],
  ['Content-Type: application/json ; charset="UTF-8"'],
  ['Content-Type: application/json', 'Content-Encoding: identity'],
];

describe('a body with an unsupported type, character set or coding is 415', () => {
  test.each(REFUSED.map((fields) => [fields.join(', ') || 'no Content-Type', fields] as const))(
    '%s',
    async (_what, fields) => {
      expectError(await send('POST /categories', [...fields]), 415, 'unsupported_media_type', 'key');
    },
  );

  it('as a merge patch, where the operation does not document it', async () => {
    const answer = await send('POST /categories', ['Content-Type: application/merge-patch+json']);
    expectError(answer, 415, 'unsupported_media_type', 'key');
  });
});

describe('a body of the right type is accepted', () => {
  test.each(TAKEN.map((fields) => [fields.join(', '), fields] as const))('%s', async (_what, fields) => {
    expect((await send('POST /categories', [...fields])).status).toBe(201);
  });

  test.each([
    'application/json',
    'application/merge-patch+json',
    'application/merge-patch+json; charset=utf-8',
  ])('PATCH accepts %s', async (type) => {
    const category = JSON.parse((await post('{"name":"A"}')).text) as { id: number };
    const created = await send('POST /pets', [JSON_TYPE], `{"name":"Rex","categoryId":${category.id}}`);
    const { id } = JSON.parse(created.text) as { id: number };
    expect(await send(`PATCH /pets/${id}`, [`Content-Type: ${type}`])).toMatchObject({ status: 200 });
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
  ['in one chunk', (body) => [[JSON_TYPE, CHUNKED], chunked(body, LIMIT + 1)]],
  ['in chunks of 1,000 bytes', (body) => [[JSON_TYPE, CHUNKED], chunked(body, 1_000)]],
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
    ['401', false, bodyOf(LIMIT)],
    ['401 and much too large', false, bodyOf(LIMIT * 8)],
    ['415', true, bodyOf(LIMIT)],
  ])('leaves the connection usable after %s', async (status, withKey, body) => {
    const [[type = '', framing = ''], sent] = frame(body);
    const fields = [...(withKey ? [await bench.keyField()] : []), framing];
    const connection = await bench.open();
    connection.write(
      requestText('POST /categories', [...fields, status === '415' ? 'Content-Type: a/b' : type], sent),
    );
    expect((await connection.answer()).status).toBe(Number(status.slice(0, 3)));
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
  const connection = await bench.open();
  const body = `${(LIMIT * 100).toString(16)}\r\n${'x'.repeat(LIMIT + 1)}`;
  connection.write(requestText('POST /categories', [await bench.keyField(), JSON_TYPE, CHUNKED], body));
  expectError(await connection.answer(), 413, 'payload_too_large', 'key');
  connection.close();
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

test.each(['a', '\\\\', '\\"'])(
  'A body of thousands of fields is refused before it is parsed: %s',
  async (name) => {
    const fields = Array.from({ length: 6_000 }, (_none, index) => `"${index}${name}":1`);
    const answer = await post(`{${fields.join(',')}}`);
    expectError(answer, 400, 'validation_failed', 'key');
    expect(answer.text).toContain('at most 100 fields');
  },
);

it('Text that looks like fields is none', async () => {
  const description = '\\":1,'.repeat(300);
  expect((await post(`{"name":"A","description":"${description}"}`)).status).toBe(201);
});
