import { Bench, expectError } from './support/bench';
import { useService } from '../../support/use-service';

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
  '*',
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
    ['a broken escape', '%zz'],
    ['an escape that ends too early', '1%'],
    ['an escape that is not UTF-8', '%ff'],
    ['an overlong escape', '%c0%af'],
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
      expect(await bench.withKey(`GET ${target}`)).toMatchObject({ status: 200, text: '[]' });
    },
  );
});
