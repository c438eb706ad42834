import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorBody } from '../../support/api-caller';
import { Arrange, aPet } from '../../support/builders';
import { readYaml } from '../../support/files';
import { call, earnBan } from '../../support/limits';
import { type RawAnswer, exchange, requestText } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { RawRequests, expectError, expectOwedHeaders } from './support/raw-requests';

const service = useService();
const raw = new RawRequests(service);

describe('an unknown path', () => {
  // prettier-ignore
  test.each([
    '/nope', '/pets/', '/store', '/store/orders/1/lines', '/%zz', '/pets/%ff', '/%C0%AE/x', '*',
    'http:///pets', 'http://[::1/pets', 'ftp://test/pets', '/docs/nope.js', '/metrics',
    '/nope?name=%zz', '/nope#%zz',
  ])('is 404 with a key, counted for it: GET %s', async (path) => {
    expectError(await raw.withKey(`GET ${path}`), 404, 'route_not_found', 'key');
  });

  test.each(['/nope', '/%zz', '//pets', '/health/live;/pets'])(
    'is 404 without a key too, counted for the address: GET %s',
    async (path) => {
      expectError(await raw.withoutKey(`GET ${path}`), 404, 'route_not_found', 'address');
    },
  );

  test.each(['POST', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY'])(
    'is 404 with the method %s, whatever its body and content type are',
    async (method) => {
      const fields = ['Content-Type: /', 'Content-Length: 1'];
      expectError(await raw.withKey(`${method} /nope`, fields, '{'), 404, 'route_not_found', 'key');
    },
  );

  it('is not repeated in the message', async () => {
    const { text } = await raw.withKey('GET /secret-path?token=abc');
    expect(text).not.toMatch(/secret-path|abc/);
  });

  test.each([
    ['GET /Pets?limit=1', 'GET /pets'],
    ['POST /categories/', 'POST /categories'],
    ['DELETE //v1/PETS/secret/', 'DELETE /pets/{petId}'],
    ['GET /pet/1', 'GET /pets?id={petId}'],
    ['GET /v2/pet/findByStatus?status=sold', 'GET /pets?status={status}'],
    ['PUT /pet', '/pets'],
    ['POST /api/v3/store/order', 'POST /store/orders'],
    ['GET /orders/1', 'GET /store/orders/{orderId}'],
    ['GET /Docs/', 'GET /docs'],
  ])('gets the operation that it may mean: %s', async (line, similar) => {
    const { text } = await raw.withKey(line);
    const { message } = JSON.parse(text) as ErrorBody;
    expect(message).toBe(
      `No operation has this path. Did you mean ${similar}? Paths are case-sensitive and have no trailing slash.`,
    );
  });
});

test.each(['/%63ategories', '/categories?', 'http://test/categories', 'http://user@test/categories'])(
  'another spelling of a known path is that path, and needs a key as well: %s',
  async (target) => {
    const { text } = await raw.withKey('GET /categories');
    expect(await raw.withKey(`GET ${target}`)).toMatchObject({ status: 200, text });
    expectError(await raw.withoutKey(`GET ${target}`), 401, 'missing_api_key', 'address');
  },
);

/** The methods that each path of openapi.yaml allows: those of its operations, and HEAD if there is GET. */
const ALLOW = Object.entries(readYaml<OpenAPIObject>('openapi.yaml')[0]!.paths).map(
  ([path, operations]): [path: string, allow: string[]] => {
    const methods = Object.keys(operations).map((method) => method.toUpperCase());
    return [path, methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method))];
  },
);
const OUTSIDE = ['/health/live', '/openapi.json', '/docs'].map((path): [path: string, allow: string[]] => [
  path,
  ['GET', 'HEAD'],
]);
const PATHS = [...ALLOW, ...OUTSIDE];
/** The methods of HTTP, and one that Node's parser knows but Fastify does not. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

const target = (path: string) => path.replace(/\{\w+\}/g, '1');

beforeAll(async () => {
  const arrange = new Arrange(await service.caller());
  for (const stock of [5, 6]) {
    await arrange.order((await arrange.pet(aPet(), stock)).id);
  }
});

test.each(PATHS)('%s returns 405 for every other method, with %j in Allow', async (path, allow) => {
  for (const method of METHODS.filter((other) => !allow.includes(other))) {
    const answer = await raw.withKey(`${method} ${target(path)}`, [], '', method);
    expect([method, answer.status]).toEqual([method, 405]);
    expect(answer.headers.allow?.split(', ').sort()).toEqual([...allow].sort());
    if (OUTSIDE.some(([other]) => other === path)) {
      expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
    } else if (method === 'HEAD') {
      expectOwedHeaders(answer, 'key');
    } else {
      expectError(answer, 405, 'method_not_allowed', 'key');
    }
  }
});

test.each(['/pets', '/%70ets', '/pets#x', 'http://test/pets'])(
  '405 is answered without a key, and counted for the address, however the path is written: PUT %s',
  async (written) => {
    const answer = await raw.withoutKey(`PUT ${written}`);
    expectError(answer, 405, 'method_not_allowed', 'address');
    expect(answer.headers.allow).toBe('GET, HEAD, POST');
  },
);

it('OPTIONS * is 405 with the limits of its caller, and names all methods of the service', async () => {
  const answer = await raw.withKey('OPTIONS *', ['Origin: https://shop.example']);
  expectError(answer, 405, 'method_not_allowed', 'key');
  expect(answer.headers).toMatchObject({
    allow: 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-origin': '*',
  });
  expectError(await raw.withoutKey('OPTIONS *'), 405, 'method_not_allowed', 'address');
});

const WITHOUT_PARAMETERS = '/ /docs /docs/guides /swagger /llms.txt /openapi.json /health/live /health/ready';

it.each(WITHOUT_PARAMETERS.split(' '))('Unknown query parameters are ignored at %s', async (path) => {
  for (const query of ['', '?', '?x=1&x=2', '?__proto__=1', '?x=%zz']) {
    expect([query, (await raw.withoutKey(`GET ${path}${query}`)).status]).toEqual([query, 200]);
  }
});

it('A target with an address may lack a path', async () => {
  expect((await raw.withoutKey('GET http://test?x=1')).status).toBe(200);
});

it('An upgrade is ignored, and the request answered as usual', async () => {
  const fields = ['Connection: Upgrade', 'Upgrade: websocket'];
  expect((await raw.withKey('GET /pets', fields)).status).toBe(200);
});

const LISTS = ['/pets', '/categories', '/store/orders', '/store/inventory', '/events'];

test.each(PATHS.filter(([, allow]) => allow.includes('GET')))(
  'HEAD %s returns the header fields of GET, without the body',
  async (path) => {
    const query = LISTS.includes(path) ? '?limit=1' : '';
    // With a new key, the figures of /usage have equally many digits both times, so that Content-Length is equal.
    const field = `X-API-Key: ${(await service.issueKey({ plan: 'pro' })).key}`;
    const ask = (method: string) =>
      exchange(service.port, requestText(`${method} ${target(path)}${query}`, [field]), method);
    const [get, head] = [await ask('GET'), await ask('HEAD')];
    expect(get.status).toBe(path.startsWith('/webhooks/') ? 404 : 200);
    expect([head.status, head.text]).toEqual([get.status, '']);
    expect(lasting(head.headers)).toEqual(lasting(get.headers));
  },
);

/** The header fields that are equal in all answers to the same request. */
function lasting(headers: Record<string, string>): Record<string, string> {
  const varying = ['date', 'x-request-id', 'x-ratelimit-remaining', 'ratelimit'];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !varying.includes(name)));
}

// If a request is wrong in several ways, the following tests say which error it gets.

type Request = [what: string, line: string, fields: string[], body: string];

/** Requests that are wrong, whoever sends them. */
const WRONG: Request[] = [
  ['broken JSON', 'POST /categories', ['Content-Type: application/json', 'Content-Length: 1'], '{'],
  ['no body', 'POST /categories', [], ''],
  ['a text', 'POST /categories', ['Content-Type: text/plain', 'Content-Length: 1'], 'x'],
  ['an invalid media type', 'POST /categories', ['Content-Type: /', 'Content-Length: 1'], 'x'],
  ['a body that is too large', 'POST /categories', ['Content-Length: 70000'], 'x'.repeat(70_000)],
  ['a bad value', 'PUT /store/inventory/x', ['Content-Type: application/json', 'Content-Length: 2'], '{}'],
  ['an unknown query parameter', 'GET /pets/1?x=1', [], ''],
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

/** Issues a key, and uses up this many of its requests. @returns its header field */
async function aKey(limits: Parameters<typeof service.issueKey>[0], used = 0): Promise<string[]> {
  const { key } = await service.issueKey(limits);
  await call(service.callerWith(key), used);
  return [`X-API-Key: ${key}`];
}

async function aBannedKey(): Promise<string[]> {
  const { key } = await service.issueKey({ perMinute: 1, perDay: 1_000 });
  await call(service.callerWith(key), 1);
  await earnBan(service.callerWith(key), service);
  return [`X-API-Key: ${key}`];
}

async function anExhaustedAddress(): Promise<string[]> {
  await call(service.anonymous(), 60);
  return [];
}

const ALL = [...WRONG, ...STRAYING];
const CHANGES = WRONG.filter(([, line]) => !line.startsWith('GET'));

/** Callers, the error that they get whatever else is wrong with their request, and the work that puts them into this state. */
const REFUSED: [who: string, refusal: string, requests: Request[], prepare: () => Promise<string[]>][] = [
  ['without a key', '401 missing_api_key', WRONG, () => Promise.resolve([])],
  ['without the scope', '403 insufficient_scope', CHANGES, () => aKey({ scopes: ['read'] })],
  ['with a key over its limit', '429 rate_limit_exceeded', ALL, () => aKey({ perMinute: 2, perDay: 99 }, 2)],
  ['from an address over its limit', '429 rate_limit_exceeded', ALL, anExhaustedAddress],
  ['with a banned key', '403 api_key_banned', ALL, aBannedKey],
];

describe.each(REFUSED)('a request %s is %s first', (_who, refusal, requests, prepare) => {
  let own: string[];
  beforeAll(async () => {
    service.clock.advance(60_000);
    own = await prepare();
  });

  test.each(requests)('%s', async (_what, line, fields, body) => {
    const answer = await send(line, [...own, ...fields], body);
    const { code, status } = JSON.parse(answer.text) as ErrorBody;
    expect(`${status} ${code}`).toBe(refusal);
    expect(answer.headers['x-ratelimit-remaining'] === '0').toBe(requests === ALL);
  });
});

test('A body that is too large is 413 at /docs, which needs no key and has no limits', async () => {
  const answer = await send('GET /docs', ['Content-Length: 70000'], 'x'.repeat(70_000));
  expect(JSON.parse(answer.text)).toMatchObject({ code: 'payload_too_large', status: 413 });
  expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
});
