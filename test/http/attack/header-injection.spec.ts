import { Arrange, aPet } from '../../support/builders';
import { type RawAnswer, RawConnection, exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

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
