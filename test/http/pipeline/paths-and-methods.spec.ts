import { Bench, expectError, expectOwedHeaders } from './support/bench';
import { useService } from '../../support/use-service';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Arrange, aPet } from '../../support/builders';
import { readYaml } from '../../support/files';
import { exchange, requestText } from '../../support/raw-http';

const service = useService();
const bench = new Bench(service);

const UNKNOWN = [
  '/nope',
  '/pets/1/2',
  '/pets/',
  '/categories/1/',
  '/store',
  '/store/orders/1/lines',
  '/%zz',
  '/%ff%fe',
  '/a%',
  '/nope?name=%zz',
  '/health',
  '/docs/nope.js',
  '/docs/%zz',
  '/docs/../package.json',
  '/docs/../../package.json',
  '/docs/%2e%2e/%2e%2e/package.json',
  '/docs/..%2f..%2fpackage.json',
  '/metrics',
];

describe('an unknown path', () => {
  test.each(UNKNOWN)('is 404 with a key, counted for it: GET %s', async (path) => {
    expectError(await bench.withKey(`GET ${path}`), 404, 'route_not_found', 'key');
  });

  test.each(['/nope', '/%zz', '//pets', '/pets/'])(
    'is 404 without a key too, counted for the address: GET %s',
    async (path) => {
      expectError(await bench.withoutKey(`GET ${path}`), 404, 'route_not_found', 'address');
    },
  );

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY'])(
    'is 404 with the method %s, whatever its body and content type are',
    async (method) => {
      const fields = ['Content-Type: /', 'Content-Length: 1'];
      expectError(await bench.withKey(`${method} /nope`, fields, '{'), 404, 'route_not_found', 'key');
      expectError(await bench.withKey(`${method} /%zz`), 404, 'route_not_found', 'key');
    },
  );

  it('does not announce the sunset of a similar operation', async () => {
    const { headers } = await bench.withKey('GET /pets/');
    expect([headers.deprecation, headers.sunset, headers.link]).toEqual([undefined, undefined, undefined]);
  });

  it('does not repeat the path in its message', async () => {
    const { text } = await bench.withKey('GET /secret-path?token=abc');
    expect(text).not.toMatch(/secret-path|abc/);
  });
});

describe('an invalid id in the path', () => {
  const ID = 'petId must be an integer from 1 to 9007199254740991.';

  test.each([
    ['an escaped slash', '1%2F2'],
    ['an escaped percent sign', '1%25'],
    ['a NUL', '%00'],
    ['a space', '%201'],
    ['digits of another script', '%D9%A1'],
    ['8,000 digits', '1'.repeat(8_000)],
    ['15,000 letters', 'x'.repeat(15_000)],
  ])('is 400: %s', async (_what, id) => {
    const answer = await bench.withKey(`GET /store/inventory/${id}`);
    expectError(answer, 400, 'validation_failed', 'key');
    expect(answer.text).toContain(ID);
  });
});

describe('another spelling of a known path', () => {
  test.each(['/%63ategories', '/categories?', 'http://test/categories'])(
    'is that path: %s',
    async (target) => {
      expect(await bench.withKey(`GET ${target}`)).toMatchObject({
        status: 200,
        text: (await bench.withKey('GET /categories')).text,
      });
    },
  );
});

/** What each path of the committed document takes, with HEAD wherever there is GET, and the paths outside of it. */
const ALLOW = Object.entries(readYaml<OpenAPIObject>('openapi.yaml')[0]!.paths).map(
  ([path, operations]): [path: string, allow: string[]] => {
    const methods = Object.keys(operations).map((method) => method.toUpperCase());
    return [path, methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method))];
  },
);
const OUTSIDE = ['/health/live', '/health/ready', '/openapi.json', '/openapi.yaml'].map(
  (path): [path: string, allow: string[]] => [path, ['GET', 'HEAD']],
);
const PATHS = [...ALLOW, ...OUTSIDE];
const COMMON = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Methods that Node's parser knows and no path takes. */
const EXOTIC = [
  'TRACE',
  'PROPFIND',
  'MKCOL',
  'LOCK',
  'SEARCH',
  'QUERY',
  'PURGE',
  'LINK',
  'M-SEARCH',
  'REPORT',
];

const target = (path: string) => path.replace(/\{\w+\}/g, '1');
const readable = PATHS.filter(([, allow]) => allow.includes('GET'));

beforeAll(async () => {
  const caller = await service.caller();
  const arrange = new Arrange(caller);
  for (const stock of [5, 6]) {
    const { id } = await arrange.pet(aPet(), stock);
    await arrange.order(id);
  }
});

test.each(PATHS)('%s returns 405 for every other method, with %j in Allow', async (path, allow) => {
  for (const method of [...COMMON, 'PROPFIND'].filter((other) => !allow.includes(other))) {
    const answer = await bench.withKey(`${method} ${target(path)}`, [], '', method);
    expect([method, answer.status]).toEqual([method, 405]);
    expect(answer.headers.allow?.split(', ').sort()).toEqual([...allow].sort());
    if (method === 'HEAD') {
      expectOwedHeaders(answer, 'key');
    } else {
      expectError(answer, 405, 'method_not_allowed', 'key');
    }
  }
});

describe('405', () => {
  test.each(EXOTIC)('is returned for %s', async (method) => {
    expectError(await bench.withKey(`${method} /pets/1`), 405, 'method_not_allowed', 'key');
  });

  it('is answered without a key, and counted for the address', async () => {
    expectError(await bench.withoutKey('PUT /pets'), 405, 'method_not_allowed', 'address');
  });

  test.each(['/%70ets', '/pets?limit=1', '/pets#x', 'http://test/pets'])(
    'is independent of how the path is written: PUT %s',
    async (written) => {
      const answer = await bench.withKey(`PUT ${written}`);
      expectError(answer, 405, 'method_not_allowed', 'key');
      expect(answer.headers.allow).toBe('GET, HEAD, POST');
    },
  );

  it('takes precedence over anything about the body', async () => {
    const fields = ['Content-Type: text/plain', 'Content-Length: 1'];
    expectError(await bench.withKey('PUT /pets', fields, '{'), 405, 'method_not_allowed', 'key');
  });
});

it('An unknown method is malformed HTTP', async () => {
  expectError(await bench.bytes('BREW /pets HTTP/1.1\r\nHost: test\r\n\r\n'), 400, 'bad_request', 'nobody');
});

it('An upgrade is ignored, and the request answered as usual', async () => {
  const fields = ['Connection: Upgrade', 'Upgrade: websocket'];
  expect((await bench.withKey('GET /pets', fields)).status).toBe(200);
});

test.each(readable)('HEAD %s returns the header fields of GET, without the body', async (path) => {
  const query = ['/pets', '/categories', '/store/orders', '/store/inventory', '/events'].includes(path)
    ? '?limit=1'
    : '';
  const field = await bench.keyField();
  const ask = (method: string) =>
    exchange(service.port, requestText(`${method} ${target(path)}${query}`, [field]), method);
  const [get, head] = [await ask('GET'), await ask('HEAD')];
  expect(get.status).toBe(path.startsWith('/webhooks/') ? 404 : 200);
  expect('link' in get.headers).toBe(query !== '' || path === '/pets/{petId}');
  expect(head.status).toBe(get.status);
  expect(head.text).toBe('');
  const varying = ['date', 'x-request-id', 'x-ratelimit-remaining', 'ratelimit'];
  expect(without(head.headers, varying)).toEqual(without(get.headers, varying));
});

function without(headers: Record<string, string>, names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
