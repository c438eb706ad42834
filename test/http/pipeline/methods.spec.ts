import { Bench, expectError, expectOwedHeaders } from './support/bench';
import { useService } from '../../support/use-service';

const service = useService();
const bench = new Bench(service);

/** What each path takes, with HEAD wherever there is GET, and the paths outside of it. */
const ALLOW: Record<string, string[]> = {
  '/pets': ['GET', 'HEAD', 'POST'],
  '/pets/{petId}': ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'],
  '/categories': ['GET', 'HEAD', 'POST'],
  '/categories/{categoryId}': ['GET', 'HEAD', 'PUT', 'DELETE'],
  '/store/orders': ['GET', 'HEAD', 'POST'],
  '/store/orders/{orderId}': ['GET', 'HEAD', 'PATCH', 'DELETE'],
  '/store/inventory': ['GET', 'HEAD'],
  '/store/inventory/{petId}': ['GET', 'HEAD', 'PUT'],
  '/store/inventory/{petId}/adjustments': ['POST'],
  '/events': ['GET', 'HEAD'],
  '/webhooks': ['GET', 'HEAD', 'POST'],
  '/webhooks/{webhookId}': ['GET', 'HEAD', 'PATCH', 'DELETE'],
  '/webhooks/{webhookId}/secret': ['POST'],
  '/webhooks/{webhookId}/test': ['POST'],
  '/webhooks/{webhookId}/deliveries': ['GET', 'HEAD'],
  '/webhooks/{webhookId}/deliveries/{deliveryId}/retry': ['POST'],
  '/key': ['GET', 'HEAD'],
  '/rate-limit': ['GET', 'HEAD'],
  '/usage': ['GET', 'HEAD'],
};
const OUTSIDE: Record<string, string[]> = {
  '/health/live': ['GET', 'HEAD'],
  '/health/ready': ['GET', 'HEAD'],
  '/openapi.json': ['GET', 'HEAD'],
  '/openapi.yaml': ['GET', 'HEAD'],
};
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
const wrong = Object.entries({ ...ALLOW, ...OUTSIDE }).flatMap(([path, allow]) =>
  COMMON.filter((method) => !allow.includes(method)).map((method) => [method, path, allow] as const),
);
const readable = Object.entries({ ...ALLOW, ...OUTSIDE }).filter(([, allow]) => allow.includes('GET'));

it('knows every path of the document', () => {
  expect(Object.keys(ALLOW).sort()).toEqual(Object.keys(service.document.paths).sort());
});

test.each(wrong)('%s %s is 405 and names %j in Allow', async (method, path, allow) => {
  const answer = await bench.withKey(`${method} ${target(path)}`, [], '', method);
  expect(answer.status).toBe(405);
  expect(answer.headers.allow?.split(', ').sort()).toEqual([...allow].sort());
  if (method === 'HEAD') {
    expectOwedHeaders(answer, 'key');
  } else {
    expectError(answer, 405, 'method_not_allowed', 'key');
  }
});

test.each(EXOTIC)('%s is 405 on every path', async (method) => {
  for (const [path, allow] of Object.entries(ALLOW)) {
    const answer = await bench.withKey(`${method} ${target(path)}`);
    expectError(answer, 405, 'method_not_allowed', 'key');
    expect(answer.headers.allow?.split(', ').sort()).toEqual([...allow].sort());
  }
});

describe('405', () => {
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

  it('answers CONNECT, which no path supports, and closes the connection', async () => {
    bench.forgetAddress();
    const connection = await bench.open();
    connection.write('CONNECT test:443 HTTP/1.1\r\nHost: test:443\r\n\r\n');
    const answer = await connection.answer();
    expectError(answer, 405, 'method_not_allowed', 'address');
    expect(answer.headers).toMatchObject({ allow: '', connection: 'close' });
    await connection.closed();
  });
});

it('An unknown method is malformed HTTP', async () => {
  expectError(await bench.bytes('BREW /pets HTTP/1.1\r\nHost: test\r\n\r\n'), 400, 'bad_request', 'address');
});

it('An upgrade is ignored, and the request answered as usual', async () => {
  const fields = ['Connection: Upgrade', 'Upgrade: websocket'];
  expect((await bench.withKey('GET /pets', fields)).status).toBe(200);
});

test.each(readable)('HEAD %s returns the header fields of GET, without the body', async (path) => {
  const get = await bench.withKey(`GET ${target(path)}`);
  const head = await bench.withKey(`HEAD ${target(path)}`, [], '', 'HEAD');
  expect(head.status).toBe(get.status);
  expect(head.text).toBe('');
  const varying = ['date', 'x-request-id', 'x-ratelimit-remaining', 'ratelimit'];
  expect(without(head.headers, varying)).toEqual(without(get.headers, varying));
});

function without(headers: Record<string, string>, names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
