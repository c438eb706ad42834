import { Bench, expectError, expectOwedHeaders } from './support/bench';
import { useService } from '../../support/use-service';

const SHOP = 'https://shop.example';
const ADMIN = 'https://admin.example:8443';

/** Header fields that a script has to be able to read: limits, ids, tags, pages, deprecation. */
const READABLE = [
  'X-RateLimit-Limit X-RateLimit-Remaining X-RateLimit-Reset RateLimit-Policy RateLimit Retry-After',
  'X-Request-Id ETag Location Accept Accept-Encoding Link Allow Deprecation Sunset Idempotent-Replayed WWW-Authenticate',
].flatMap((line) => line.split(' '));
const asks = (origin: string) => [
  `Origin: ${origin}`,
  'Access-Control-Request-Method: PATCH',
  'Access-Control-Request-Headers: x-api-key, content-type',
];

describe('open to every origin, by default', () => {
  const service = useService();
  const bench = new Bench(service);

  test.each(['/pets', '/pets/1', '/nope', '/pets/%g1'])(
    'a preflight is answered without a key and not counted: %s',
    async (path) => {
      bench.forgetAddress();
      const answer = await bench.withoutKey(`OPTIONS ${path}`, asks(SHOP));
      expect(answer).toMatchObject({
        status: 204,
        text: '',
        headers: {
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
          'access-control-allow-headers': 'x-api-key, content-type',
          'access-control-max-age': '600',
        },
      });
      expectOwedHeaders(answer, 'nobody');
    },
  );

  test.each([
    ['without both fields', []],
    ['without a method', [`Origin: ${SHOP}`]],
    ['without an origin', ['Access-Control-Request-Method: GET']],
  ])('OPTIONS %s without preflight headers is a method that is not allowed', async (_what, fields) => {
    const answer = await bench.withoutKey('OPTIONS /pets', fields);
    expectError(answer, 405, 'method_not_allowed', 'address');
    expect(answer.headers.allow).toBe('GET, HEAD, POST');
  });

  test.each(['GET /pets', 'GET /nope', 'GET /pets/%ff', 'GET http:///x', 'PUT /pets', 'POST /pets'])(
    'a script may read the response and its header fields: %s',
    async (line) => {
      const { headers } = await bench.withKey(line, [`Origin: ${SHOP}`]);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-expose-headers']?.split(', ').sort()).toEqual(READABLE.sort());
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );
});

describe('open to the origins of CORS_ORIGINS', () => {
  const service = useService({ settings: { corsOrigins: [SHOP, ADMIN] } });
  const bench = new Bench(service);

  test.each([
    [SHOP, SHOP],
    [ADMIN, ADMIN],
    ['http://shop.example', undefined],
    [`${SHOP}.evil.example`, undefined],
    ['null', undefined],
  ])('answers a request from %s with %s, and Vary', async (origin, allowed) => {
    for (const [line, fields] of [
      ['OPTIONS /pets', asks(origin)],
      ['GET /pets', [`Origin: ${origin}`]],
    ] as const) {
      const { headers } = await bench.withoutKey(line, [...fields]);
      expect(headers['access-control-allow-origin']).toBe(allowed);
      expect(headers.vary).toMatch(/\borigin\b/i);
    }
  });
});
