import { Bench, expectError } from './support/bench';
import { requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const service = useService();
const bench = new Bench(service);

const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const LIMIT = 65_536;

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

describe('Expect: 100-continue', () => {
  const fields = [JSON_TYPE, 'Expect: 100-continue', 'Content-Length: 12'];

  it('gets 100 Continue, and its body is read', async () => {
    const connection = await bench.open();
    connection.write(requestText('POST /categories', [await bench.keyField(), ...fields]));
    expect((await connection.answer()).status).toBe(100);
    connection.write('{"name":"A"}');
    expect((await connection.answer()).status).toBe(201);
    connection.close();
  });

  it('is not invited when the request is refused, and the connection is closed', async () => {
    const sized = fields.map((field) => field.replace(' 12', ` ${LIMIT + 1}`));
    const text = fields.map((field) => field.replace('json', 'xml'));
    const key = await bench.keyField();
    for (const [line, status, given] of [
      ['POST /categories', 401, fields],
      ['POST /categories', 413, [key, ...sized]],
      ['POST /categories', 415, [key, ...text]],
      ['POST /nope', 404, [key, ...fields]],
      ['DELETE /categories/1', 400, [key, ...fields]],
    ] as const) {
      const connection = await bench.open();
      connection.write(requestText(line, [...given]));
      expect(await connection.answer()).toMatchObject({ status, headers: { connection: 'close' } });
      connection.write('{"name":"A"}');
      await connection.closed();
    }
  });

  it('is ignored for any other expectation (RFC 9110, section 10.1.1)', async () => {
    expect((await bench.withKey('GET /pets', ['Expect: the-unexpected'])).status).toBe(200);
  });
});
