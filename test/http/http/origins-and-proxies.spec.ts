import { nextOf } from '../../support/api-caller';
import { Arrange } from '../../support/builders';
import { exchange } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { RawRequests, expectError, expectOwedHeaders } from './support/raw-requests';

const SHOP = 'https://shop.example';
const ADMIN = 'https://admin.example:8443';

const service = useService();
const proxied = useService({ settings: { trustProxy: ['127.0.0.1'], corsOrigins: [SHOP, ADMIN] } });
const [raw, behindProxy] = [new RawRequests(service), new RawRequests(proxied)];

/** Header fields that scripts of other origins need to read. */
const READABLE = [
  'X-RateLimit-Limit X-RateLimit-Remaining X-RateLimit-Reset RateLimit-Policy RateLimit Retry-After Date',
  'X-Request-Id ETag Location Accept Accept-Encoding Link Allow Deprecation Sunset Idempotent-Replayed WWW-Authenticate',
].flatMap((line) => line.split(' '));
const asks = (origin: string) => [
  `Origin: ${origin}`,
  'Access-Control-Request-Method: PATCH',
  'Access-Control-Request-Headers: x-api-key, content-type',
];

describe('open to every origin, by default', () => {
  test.each(['/pets', '/nope', '/pets/%g1'])('a preflight needs no key and is free: %s', async (path) => {
    const answer = await raw.withoutKey(`OPTIONS ${path}`, asks(SHOP));
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
  });

  test.each(['/docs', '/openapi.json', '/health/live'])(
    'a preflight for a path without limits reports none: %s',
    async (path) => {
      const { status, headers } = await raw.withoutKey(`OPTIONS ${path}`, asks(SHOP));
      expect([status, headers['access-control-allow-origin']]).toEqual([204, '*']);
      expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    },
  );

  test.each([
    ['a method', [`Origin: ${SHOP}`]],
    ['an origin', ['Access-Control-Request-Method: GET']],
  ])('OPTIONS without %s is a method that is not allowed', async (_what, fields) => {
    const answer = await raw.withoutKey('OPTIONS /pets', fields);
    expectError(answer, 405, 'method_not_allowed', 'address');
  });

  test.each(['GET /pets', 'GET /nope', 'GET /pets/%ff', 'GET http:///x', 'POST /pets'])(
    'a script may read the response and its header fields: %s',
    async (line) => {
      const { headers } = await raw.withKey(line, [`Origin: ${SHOP}`]);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-expose-headers']?.split(', ').sort()).toEqual(READABLE.sort());
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );
});

test.each([
  [SHOP, SHOP],
  [ADMIN, ADMIN],
  ['http://shop.example', undefined],
  [`${SHOP}.evil.example`, undefined],
  ['null', undefined],
])('With CORS_ORIGINS a request from %s is answered with %s, and Vary', async (origin, allowed) => {
  for (const [line, fields] of [
    ['OPTIONS /pets', asks(origin)],
    ['GET /pets', [`Origin: ${origin}`]],
  ] as const) {
    const { headers } = await behindProxy.withoutKey(line, [...fields]);
    expect(headers['access-control-allow-origin']).toBe(allowed);
    expect(headers.vary).toMatch(/\borigin\b/i);
  }
});

describe('The address of the service', () => {
  const askFor = (path: string, headers: Record<string, string>, { port } = service) => {
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return exchange(port, `${[`GET ${path} HTTP/1.1`, ...fields, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  };
  const serversFor = async (...[headers, from]: [Record<string, string>, typeof service?]) => {
    const { text } = await askFor('/openapi.json', headers, from);
    return (JSON.parse(text) as { servers: { url: string }[] }).servers.map(({ url }) => url);
  };

  it.each([
    ['Pet-Store_1.Example:8080', 'http://pet-store_1.example:8080'],
    ['[::1]:3000', 'http://[::1]:3000'],
    // A port may be empty (RFC 3986, section 3.2.3).
    ['shop.example:', 'http://shop.example'],
  ])('is in the document as the caller asked for it: %s', async (host, url) => {
    expect(await serversFor({ Host: host })).toEqual([url]);
  });

  it.each(['', '$&', 'a%20b', 'shop.example:99999'])(
    'is that of the connection if Host is valid, but leads nowhere: %s',
    async (host) => {
      expect(await serversFor({ Host: host })).toEqual([`http://127.0.0.1:${service.port}`]);
    },
  );

  it('is that of a target with an address, instead of Host', async () => {
    const { text } = await askFor('http://shop.example/llms.txt', { Host: 'pod-7' });
    expect(text).toContain('(http://shop.example/openapi.json)');
  });

  const forwarded = {
    Host: 'pod-7',
    'X-Forwarded-Host': 'shop.example',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Prefix': '/store',
  };

  it('is not taken from a proxy that nobody trusts', async () => {
    expect(await serversFor(forwarded)).toEqual(['http://pod-7']);
    expect((await askFor('/', forwarded)).headers.link).toContain('</openapi.json>; rel="service-desc"');
  });

  it('is what a trusted proxy says of it, in the documents', async () => {
    expect(await serversFor(forwarded, proxied)).toEqual(['https://shop.example/store']);
    const inCapitals = { ...forwarded, 'X-Forwarded-Proto': 'HTTPS' };
    expect(await serversFor(inCapitals, proxied)).toEqual(['https://shop.example/store']);
    const { text } = await askFor('/llms.txt', forwarded, proxied);
    expect(text).toContain('(https://shop.example/store/openapi.json)');
  });

  it.each(['user@host', 'host/path', 'x"y', 'a b'])(
    'is that of the connection if a trusted proxy forwards no host: %s',
    async (host) => {
      const headers = { ...forwarded, 'X-Forwarded-Host': host, 'X-Forwarded-Proto': 'http' };
      expect(await serversFor(headers, proxied)).toEqual([`http://127.0.0.1:${proxied.port}/store`]);
    },
  );
});

describe('Behind a trusted proxy that has removed a prefix', () => {
  /** @param prefix of the path, which the proxy says it has removed */
  const below = async (prefix: string) => (await proxied.caller()).with({ 'X-Forwarded-Prefix': prefix });

  test('every link of a response is below it', async () => {
    const caller = await below('/shop');
    const { id } = await new Arrange(caller).pet();
    expect(nextOf(await caller.get('/events?limit=1'))).toMatch(/^\/shop\/events\?limit=1&cursor=/);
    const created = await caller.post<{ id: number }>('/categories', { name: 'Dogs' });
    expect(created.headers.get('location')).toBe(`/shop/categories/${created.body.id}`);
    const { headers } = await caller.get(`/pets/${id}`);
    expect(headers.get('link')).toContain('</shop/docs/guides/deprecation');
    expect(headers.get('link')).toContain(`</shop/pets?id=${id}>; rel="successor-version"`);
    expect((await caller.get('/')).headers.get('link')).toContain('</shop/openapi.json>; rel="service-desc"');
  });

  test.each([
    ['/shop/', '/shop'],
    ['/other, /a/b-c', '/a/b-c'],
    ['/', ''],
    ['', ''],
    ['shop', ''],
    ['/a:b', '/a:b'],
    ['/a:', ''],
    ['//evil.example', ''],
    ['/a>; rel="next", <b', ''],
    ['https://evil.example/', ''],
  ])('the prefix %s is read as "%s"', async (sent, prefix) => {
    const { headers } = await (await below(sent)).get('/events?limit=1');
    expect(nextOf({ headers })).toMatch(new RegExp(`^${prefix}/events\\?`));
  });
});
