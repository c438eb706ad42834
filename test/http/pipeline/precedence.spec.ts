import { Bench } from './support/bench';
import { type RawAnswer, exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const service = useService();
const bench = new Bench(service);

/** Requests that are wrong in themselves, each in its own way. */
const WRONG: [string, string, string[], string][] = [
  ['broken JSON', 'POST /categories', ['Content-Type: application/json', 'Content-Length: 1'], '{'],
  ['no body', 'POST /categories', [], ''],
  ['a text', 'POST /categories', ['Content-Type: text/plain', 'Content-Length: 1'], 'x'],
  ['an invalid media type', 'POST /categories', ['Content-Type: /', 'Content-Length: 1'], 'x'],
  ['a body that is too large', 'POST /categories', ['Content-Length: 70000'], 'x'.repeat(70_000)],
  ['a bad value', 'PUT /store/inventory/x', ['Content-Type: application/json', 'Content-Length: 2'], '{}'],
  ['an unknown query parameter', 'GET /pets/1?x=1', [], ''],
  ['a bad query value', 'GET /pets?limit=x', [], ''],
];
const STRAYING: [string, string, string[], string][] = [
  ['an unknown path', 'GET /nope', [], ''],
  ['an unknown path below /docs', 'GET /docs/nope.js', [], ''],
  ['a wrong method', 'PUT /pets', [], ''],
  ['a method that Fastify does not know', 'QUERY /pets', [], ''],
  ['OPTIONS without a preflight', 'OPTIONS /pets', [], ''],
  ['no Host', 'GET /pets', ['Host: b'], ''],
];

function send(line: string, fields: string[], body: string): Promise<RawAnswer> {
  return exchange(service.port, requestText(line, fields, body));
}

async function sendTimes(times: number, line: string, fields: string[]): Promise<void> {
  for (let sent = 0; sent < times; sent += 1) {
    await send(line, fields, '');
  }
}

describe('an invalid request without a key', () => {
  test.each(WRONG)('is 401: %s', async (_what, line, fields, body) => {
    const answer = await bench.withoutKey(line, fields, body);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'missing_api_key', status: 401 });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="petstore"');
  });
});

describe('an invalid request without the scope', () => {
  test.each(WRONG.filter(([, line]) => !line.startsWith('GET')))(
    'is 403: %s',
    async (_what, line, fields, body) => {
      const { key } = await service.issueKey({ scopes: ['read'] });
      const answer = await send(line, [`X-API-Key: ${key}`, ...fields], body);
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'insufficient_scope', status: 403 });
    },
  );
});

describe('an invalid or unknown request over the limit', () => {
  let key: string;
  beforeAll(async () => {
    ({ key } = await service.issueKey({ perMinute: 2, perDay: 1_000 }));
  });
  beforeEach(async () => {
    service.clock.advance(60_000);
    await sendTimes(2, 'GET /pets', [`X-API-Key: ${key}`]);
  });

  test.each([...WRONG, ...STRAYING])('is 429: %s', async (_what, line, fields, body) => {
    const answer = await send(line, [`X-API-Key: ${key}`, ...fields], body);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'rate_limit_exceeded', status: 429 });
    expect(answer.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'retry-after': '60',
    });
  });
});

describe('a request without a key from an address over its limit', () => {
  beforeAll(async () => {
    service.clock.advance(60_000);
    await sendTimes(60, 'GET /pets', []);
  });

  test.each([...WRONG, ...STRAYING])('is 429: %s', async (_what, line, fields, body) => {
    const answer = await send(line, fields, body);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'rate_limit_exceeded', status: 429 });
    expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0' });
  });

  it('a valid key is still served', async () => {
    const { key } = await service.issueKey();
    expect((await send('GET /pets', [`X-API-Key: ${key}`], '')).status).toBe(200);
  });

  test.each(['/docs', '/openapi.json', '/openapi.yaml', '/health/live', '/health/ready'])(
    'can still get %s, which is never counted',
    async (path) => expect((await send(`GET ${path}`, [], '')).status).toBe(200),
  );
});

describe('a request with a banned key', () => {
  let field: string;
  beforeAll(async () => {
    const { key } = await service.issueKey({ perMinute: 1, perDay: 1_000 });
    field = `X-API-Key: ${key}`;
    await sendTimes(2, 'GET /pets', [field]);
    service.clock.advance(1_000);
    await sendTimes(11, 'GET /pets', [field]);
  });

  test.each([...WRONG, ...STRAYING])('is 403: %s', async (_what, line, fields, body) => {
    const answer = await send(line, [field, ...fields], body);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'api_key_banned', status: 403 });
    expect(answer.headers['retry-after']).toBe('120');
  });

  it('still reports its limits and the request id', async () => {
    for (const line of ['GET /rate-limit', 'GET /health/live', 'GET /openapi.json']) {
      expect((await send(line, [field], '')).status).toBe(200);
    }
  });
});

it('Two different keys are 400, before anything about the body', async () => {
  service.clock.advance(60_000);
  const fields = [await bench.keyField(), 'Authorization: Bearer other', 'Content-Length: 1'];
  const answer = await send('POST /categories', fields, '{');
  expect(JSON.parse(answer.text)).toMatchObject({ code: 'conflicting_credentials', status: 400 });
});
