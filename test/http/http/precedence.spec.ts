import { type RawAnswer, exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';

const service = useService();

type Request = [what: string, line: string, fields: string[], body: string];

/** Requests that are wrong in themselves, each in its own way. */
const WRONG: Request[] = [
  ['broken JSON', 'POST /categories', ['Content-Type: application/json', 'Content-Length: 1'], '{'],
  ['no body', 'POST /categories', [], ''],
  ['a text', 'POST /categories', ['Content-Type: text/plain', 'Content-Length: 1'], 'x'],
  ['an invalid media type', 'POST /categories', ['Content-Type: /', 'Content-Length: 1'], 'x'],
  ['a body that is too large', 'POST /categories', ['Content-Length: 70000'], 'x'.repeat(70_000)],
  ['a bad value', 'PUT /store/inventory/x', ['Content-Type: application/json', 'Content-Length: 2'], '{}'],
  ['an unknown query parameter', 'GET /pets/1?x=1', [], ''],
  ['a bad query value', 'GET /pets?limit=x', [], ''],
];
const STRAYING: Request[] = [
  ['an unknown path', 'GET /nope', [], ''],
  ['an unknown path below /docs', 'GET /docs/nope.js', [], ''],
  ['a wrong method', 'PUT /pets', ['Content-Type: text/plain', 'Content-Length: 1'], '{'],
  ['a method that Fastify does not know', 'QUERY /pets', [], ''],
  ['OPTIONS without a preflight', 'OPTIONS /pets', [], ''],
];

function send(line: string, fields: string[], body = ''): Promise<RawAnswer> {
  return exchange(service.port, requestText(line, fields, body));
}

async function sendTimes(times: number, fields: string[]): Promise<void> {
  for (let sent = 0; sent < times; sent += 1) {
    await send('GET /pets', fields);
  }
}

async function aKey(limits: Parameters<typeof service.issueKey>[0]): Promise<string> {
  return `X-API-Key: ${(await service.issueKey(limits)).key}`;
}

interface Caller {
  who: string;
  /** What the caller is refused, whatever is wrong with the request. */
  status: number;
  code: string;
  headers: Record<string, string>;
  requests: Request[];
  /** Brings the caller into this situation. @returns its header fields */
  prepare: () => Promise<string[]>;
}

const CALLERS: Caller[] = [
  {
    who: 'without a key',
    status: 401,
    code: 'missing_api_key',
    headers: { 'www-authenticate': 'Bearer realm="petstore"' },
    requests: WRONG,
    prepare: () => Promise.resolve([]),
  },
  {
    who: 'without the scope',
    status: 403,
    code: 'insufficient_scope',
    headers: {},
    requests: WRONG.filter(([, line]) => !line.startsWith('GET')),
    prepare: async () => [await aKey({ scopes: ['read'] })],
  },
  {
    who: 'with a key over its limit',
    status: 429,
    code: 'rate_limit_exceeded',
    headers: { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0', 'retry-after': '60' },
    requests: [...WRONG, ...STRAYING],
    prepare: async () => {
      const field = await aKey({ perMinute: 2, perDay: 1_000 });
      await sendTimes(2, [field]);
      return [field];
    },
  },
  {
    who: 'from an address over its limit',
    status: 429,
    code: 'rate_limit_exceeded',
    headers: { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0' },
    requests: [...WRONG, ...STRAYING],
    prepare: async () => {
      await sendTimes(60, []);
      return [];
    },
  },
  {
    who: 'with a banned key',
    status: 403,
    code: 'api_key_banned',
    headers: { 'retry-after': '120' },
    requests: [...WRONG, ...STRAYING],
    prepare: async () => {
      const field = await aKey({ perMinute: 1, perDay: 1_000 });
      await sendTimes(2, [field]);
      service.clock.advance(2_000);
      await sendTimes(11, [field]);
      return [field];
    },
  },
];

describe.each(CALLERS)('a request $who', ({ status, code, headers, requests, prepare }) => {
  let own: string[];
  beforeAll(async () => {
    service.clock.advance(60_000);
    own = await prepare();
  });

  test.each(requests)(`is ${status} ${code} first: %s`, async (_what, line, fields, body) => {
    const answer = await send(line, [...own, ...fields], body);
    expect(JSON.parse(answer.text)).toMatchObject({ code, status });
    expect(answer.headers).toMatchObject(headers);
  });

  test.each(['/docs', '/openapi.json', '/openapi.yaml', '/health/live', '/health/ready'])(
    'can still get %s, which is never counted',
    async (path) => expect((await send(`GET ${path}`, own)).status).toBe(200),
  );
});

test.each(['/docs', '/health/live'])(
  'A body that is too large is 413 at %s, which needs no key and has no limits',
  async (path) => {
    const answer = await send(`GET ${path}`, ['Content-Length: 70000'], 'x'.repeat(70_000));
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'payload_too_large', status: 413 });
    expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
  },
);
