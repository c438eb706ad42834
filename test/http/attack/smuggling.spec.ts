import { RawConnection, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const service = useService();
let field: string;

beforeAll(async () => {
  field = `X-API-Key: ${(await service.issueKey()).key}`;
});

/** What nobody must take for a request: it would create something. */
const hidden = () =>
  requestText(
    'POST /categories',
    [field, 'Content-Type: application/json', 'Content-Length: 15'],
    '{"name":"Evil"} ',
  );

/** Bodies whose end two servers could see at different places. */
const FRAMINGS: [string, string[]][] = [
  ['length, then chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
  ['chunks, then length', ['Transfer-Encoding: chunked', 'Content-Length: 4']],
  ['two lengths', ['Content-Length: 0', 'Content-Length: 300']],
  ['two equal lengths', ['Content-Length: 0', 'Content-Length: 0']],
  ['a list of lengths', ['Content-Length: 0, 300']],
  ['a length with a sign', ['Content-Length: +0']],
  ['a hexadecimal length', ['Content-Length: 0x0']],
  ['a length beyond 64 bits', ['Content-Length: 18446744073709551616']],
  ['a length with a space before the colon', ['Content-Length : 0']],
  ['chunks with a space before the colon', ['Transfer-Encoding : chunked']],
  ['chunks on a folded line', ['Transfer-Encoding:', ' chunked']],
  ['chunks after a vertical tab', ['Transfer-Encoding: \x0bchunked']],
  ['chunks and another coding', ['Transfer-Encoding: chunked, identity']],
  ['an unknown coding', ['Transfer-Encoding: xchunked']],
  ['two codings', ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked, cow']],
  ['a field ended by CR alone', ['X: a\rTransfer-Encoding: chunked']],
  ['a field ended by LF alone', ['X: a\nTransfer-Encoding: chunked']],
];

/** Everything that comes back on a connection, until the service closes it or has nothing more to say. */
async function answersTo(bytes: string): Promise<string> {
  const { connect } = await import('node:net');
  const socket = connect(service.port, '127.0.0.1');
  socket.end(Buffer.from(bytes, 'latin1'));
  return Buffer.concat((await socket.toArray()) as Buffer[]).toString('latin1');
}

async function names(): Promise<string[]> {
  const { rows } = await service.database.pool.query<{ name: string }>('SELECT name FROM categories');
  return rows.map(({ name }) => name);
}

describe('a request hidden in a body', () => {
  it.each(FRAMINGS)('is not executed: %s', async (_what, fields) => {
    const type = 'Content-Type: application/json';
    const text = requestText('POST /categories', [field, type, ...fields], `0\r\n\r\n${hidden()}`);
    const answers = await answersTo(text);
    expect(answers.match(/HTTP\/1\.1 \d{3}/g)!.filter((line) => /[45]\d\d/.test(line)).length).toBe(1);
    expect(answers).not.toMatch(/HTTP\/1\.1 2/);
    expect(answers).toMatch(/\r\nconnection: close\r\n/i);
    expect(await names()).toEqual([]);
  });

  it.each(['GET /pets', 'DELETE /pets/999', 'HEAD /pets', 'OPTIONS /pets', 'GET /nope', 'GET /openapi.json'])(
    'is skipped where the operation has no body: %s',
    async (line) => {
      const connection = await RawConnection.open(service.port);
      const body = hidden();
      connection.write(requestText(line, [field, `Content-Length: ${body.length}`], body));
      await connection.answer({ method: line.split(' ')[0] });
      connection.write(requestText('GET /health/live', ['X-Request-Id: next']));
      expect((await connection.answer()).headers['x-request-id']).toBe('next');
      expect(await names()).toEqual([]);
      connection.close();
    },
  );

  it('is not found in the trailer of a chunked body, whose fields are ignored', async () => {
    const connection = await RawConnection.open(service.port);
    const trailer = `0\r\n${field}\r\nX-Request-Id: evil\r\n\r\n`;
    connection.write(
      requestText('POST /categories', ['Transfer-Encoding: chunked'], `2\r\n{}\r\n${trailer}`),
    );
    expect(await connection.answer()).toMatchObject({ status: 401 });
    connection.write(requestText('GET /health/live', ['X-Request-Id: next']));
    expect((await connection.answer()).headers['x-request-id']).toBe('next');
    connection.close();
  });
});

const CHUNK = '1\r\na\r\n';

/** A POST whose body comes byte by byte and does not end. */
const inChunks = (count: number, fields: string[]): string =>
  requestText('POST /categories', [
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
    ...fields,
  ]) + CHUNK.repeat(count);

it.each([
  ['with a key', 400, 'bad_request'],
  ['without a key', 401, 'missing_api_key'],
])('a body in very many chunks is refused, and its connection closed: %s', async (how, status, code) => {
  const { key } = await service.issueKey();
  const connection = await RawConnection.open(service.port);
  connection.write(inChunks(50_000, how === 'with a key' ? [`X-API-Key: ${key}`] : []));
  const refusal = await connection.answer();
  expect(refusal.status).toBe(status);
  expect(JSON.parse(refusal.text)).toMatchObject({ code });
  // How much Node had parsed before the refusal depends on its version.
  const more = setInterval(() => connection.write(CHUNK.repeat(2_000)));
  await connection.closed().finally(() => clearInterval(more));
});
