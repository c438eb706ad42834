import { connect } from 'node:net';
import { Arrange, aPet } from '../../support/builders';
import { type RawAnswer, RawConnection, exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { MINUTE_MS } from '../../../src/modules/quotas/rules/limits';
import { operationsOf } from '../../support/document';

const service = useService();
let field: string;

beforeAll(async () => {
  const { key } = await service.issueKey();
  field = `X-API-Key: ${key}`;
  const arrange = new Arrange(service.anonymous().with({ 'X-API-Key': key }));
  for (const name of ['a\r\nX-Injected: one', 'a\r\nX-Injected: two']) {
    await arrange.category(name);
    await arrange.pet(aPet().named(name));
  }
});

const send = (line: string, fields: string[] = []): Promise<RawAnswer> =>
  exchange(service.port, requestText(line, [field, ...fields]));

function expectNothingInjected({ headers }: RawAnswer): void {
  expect(Object.keys(headers).filter((name) => name.includes('injected'))).toEqual([]);
}

describe('a line break in a value that is returned in a header field stays part of the value', () => {
  it.each([
    ['Link of a page', 'GET /categories?limit=1&name=a%0d%0aX-Injected:'],
    ['Link of a page, written as bytes of UTF-8', 'GET /categories?limit=1&name=a%0D%0AX-Injected%3A%20'],
    ['Link of a page of pets', 'GET /pets?limit=1&name=a%0d%0aX-Injected:'],
  ])('%s', async (_what, line) => {
    const answer = await send(line);
    expect(answer.status).toBe(200);
    expect(answer.headers.link).toContain('%0D%0AX-Injected%3A');
    expectNothingInjected(answer);
  });

  it.each([
    ['Link of a deprecated operation', 'GET /pets/1%0d%0aX-Injected:%201'],
    ['a path', 'GET /%0d%0aX-Injected:%201'],
    ['Allow', 'PUT /pets%0d%0aX-Injected:%201'],
    ['letters whose last bytes are CR and LF', 'GET /pets/1%E5%98%8D%E5%98%8AX-Injected:%201'],
  ])('%s', async (_what, line) => {
    const answer = await send(line);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expectNothingInjected(answer);
  });
});

describe.each([
  'X-Request-Id',
  'Idempotency-Key',
  'Origin',
  'Access-Control-Request-Headers',
  'If-Match',
  'X-API-Key',
])('a value of %s', (name) => {
  const preflight = ['Origin: http://a.example', 'Access-Control-Request-Method: GET'];
  const fields = (value: string) => [
    ...preflight.filter((text) => !text.startsWith(name)),
    `${name}: ${value}`,
  ];

  it.each([
    ['CR', 'a\rX-Injected: 1'],
    ['LF', 'a\nX-Injected : 1'],
    ['NUL', 'a\0X-Injected: 1'],
    ['DEL', 'a\x7fX-Injected: 1'],
  ])('with %s is malformed HTTP', async (_what, value) => {
    const answer = await send('OPTIONS /pets', fields(value));
    expect(answer.status).toBe(400);
    expectNothingInjected(answer);
  });

  it.each([
    ['escapes of CR and LF', 'a%0d%0aX-Injected: 1'],
    ['letters whose last bytes are CR and LF', Buffer.from('a嘍嘊X-Injected: 1').toString('latin1')],
  ])('with %s injects nothing', async (_what, value) => {
    for (const line of ['OPTIONS /pets', 'GET /pets?limit=1', 'GET /nope']) {
      expectNothingInjected(await send(line, fields(value)));
    }
  });
});

it('The Host header is never echoed', async () => {
  const connection = await RawConnection.open(service.port);
  connection.write(`GET /categories?limit=1 HTTP/1.1\r\nHost: evil.example\r\n${field}\r\n\r\n`);
  const answer = await connection.answer();
  expect(answer.headers.link).toMatch(/^<\/categories\?/);
  expect(JSON.stringify(answer)).not.toContain('evil.example');
  connection.close();
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
    expect(await names()).not.toContain('Evil');
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
      expect(await names()).not.toContain('Evil');
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

/** Ways to write a path that have led past somebody's access rules, or into a path of another meaning. */
const TRICKS: [string, (path: string) => string][] = [
  ['two slashes', (path) => `/${path}`],
  ['a slash at the end', (path) => `${path}/`],
  ['a dot segment', (path) => `/.${path}`],
  ['parent segments', (path) => `/health/live/..${path}`],
  ['escaped parent segments', (path) => `/health/live/%2e%2e${path}`],
  ['doubly escaped parent segments', (path) => `/health/live/%252e%252e${path}`],
  ['an escaped slash', (path) => path.replace(/(.)\//, '$1%2f')],
  ['a backslash', (path) => path.replace(/(.)\//, '$1\\')],
  ['a path parameter (;)', (path) => `${path};jsessionid=1`],
  ['a path parameter with an open path', (path) => `/health/live;${path}`],
  ['NUL', (path) => `${path}%00`],
  ['NUL and an open path', (path) => `${path}%00/health/live`],
  ['an extension', (path) => `${path}.json`],
  ['a fragment', (path) => `${path}#/health/live`],
  ['a query of an open path', (path) => `/health/live?x=${path}`],
  ['capitals', (path) => path.toUpperCase()],
  ['an escaped letter', (path) => path.replace('s', '%73')],
  ['a full-width letter', (path) => path.replace('s', '%EF%BD%93')],
  ['an overlong escape', (path) => path.replace(/\//g, '%c0%af')],
  ['a URL', (path) => `http://127.0.0.1${path}`],
  ['a URL with an open path as its user', (path) => `http://health%2flive@127.0.0.1${path}`],
  ['a space', (path) => `${path}%20`],
  ['15,000 slashes', (path) => `${'/'.repeat(15_000)}${path}`],
  ['15,000 letters', (path) => `${path}/${'x'.repeat(15_000)}`],
];

/** Header fields that other servers take for the path or the method. */
const OVERRIDES = (path: string) => [
  `X-Original-URL: ${path}`,
  `X-Rewrite-URL: ${path}`,
  `X-Forwarded-Path: ${path}`,
  'X-HTTP-Method-Override: DELETE',
  'X-Method-Override: DELETE',
];

const operations = () =>
  [...operationsOf(service.document).keys()].map(
    (name) => name.replace(/\{\w+\}/g, '1').split(' ') as [string, string],
  );

describe('no spelling of a path bypasses authentication', () => {
  it.each(TRICKS)('%s', async (_what, trick) => {
    // Each trick at every fourth operation, another one first each time: six tricks at each operation.
    const first = TRICKS.findIndex(([, other]) => other === trick);
    for (const [method, path] of operations().filter((_operation, index) => (index + first) % 4 === 0)) {
      service.clock.advance(MINUTE_MS);
      const { status, text } = await exchange(service.port, requestText(`${method} ${trick(path)}`));
      const isOpen = trick(path).startsWith('/health/live?');
      expect({ path, status: isOpen ? 'open' : String(status) }).toEqual({
        path,
        status: expect.stringMatching(isOpen ? /open/ : /^4\d\d$/) as string,
      });
      expect(text).not.toMatch(/"id":|"quantity":|"plan":/);
    }
  });

  it.each(['GET /health/live', 'GET /openapi.json'])(
    'no header field turns %s into another operation',
    async (open) => {
      const plain = await exchange(service.port, requestText(open));
      for (const path of new Set(operations().map(([, each]) => each))) {
        service.clock.advance(MINUTE_MS);
        const forged = await exchange(service.port, requestText(open, OVERRIDES(path)));
        expect([forged.status, forged.text]).toEqual([plain.status, plain.text]);
      }
    },
  );
});

it('A method in a header field is ignored: GET never deletes', async () => {
  const caller = await service.caller();
  const { body } = await caller.post<{ id: number }>('/categories', { name: 'Dogs' });
  const forging = caller.with({ 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE' });
  expect((await forging.get(`/categories/${body.id}`)).status).toBe(200);
  expect((await caller.get(`/categories/${body.id}`)).status).toBe(200);
});
