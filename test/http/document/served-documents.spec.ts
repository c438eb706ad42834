import { ServerResponse } from 'node:http';
import { errorCatalogue } from '#libs/http';
import { GUIDES, guidePath } from '../../../src/http/document/guides';
import { operationsOf } from '../../support/document';
import { useService } from '../../support/use-service';

const service = useService();

/** What helmet adds. It belongs to pages; on an answer in JSON it would only be more to send. */
const HELMET = [
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'x-frame-options',
  'x-download-options',
  'x-dns-prefetch-control',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
];

/** Reads the whole answer: one that nobody reads would keep its connection, and the service, from ending. */
async function get(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; text: string }> {
  const answer = await fetch(`${service.url}${path}`, { redirect: 'manual', headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

it.each([
  '/openapi.json',
  '/openapi.yaml',
  '/docs',
  '/docs/page.css',
  '/docs/guides/limits',
  '/docs/docs.css',
  '/docs/search.json',
  '/docs/swagger-ui-bundle.js',
  '/docs/favicon-32x32.png',
])('is not sent again to a client that has it: %s', async (path) => {
  const { headers } = await get(path);
  expect(headers.get('cache-control')).toBe('public, max-age=300');
  const tag = headers.get('etag')!;
  const again = await fetch(`${service.url}${path}`, { headers: { 'If-None-Match': tag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

describe('what a page needs', () => {
  it.each([
    ['br', /^W?\/?"[^"]+-br"$/],
    ['gzip;q=0.5, br;q=0', /-gzip"$/],
  ])('is compressed for Accept-Encoding: %s', async (accepted, tag) => {
    const plain = await get('/docs/docs.js', { 'Accept-Encoding': 'identity' });
    const { headers, text } = await get('/docs/docs.js', { 'Accept-Encoding': accepted });
    expect([headers.get('content-encoding'), headers.get('vary')]).toEqual([
      accepted.split(';')[0],
      expect.stringContaining('Accept-Encoding'),
    ]);
    expect(headers.get('etag')).toMatch(tag);
    expect(Number(headers.get('content-length'))).toBeLessThan(Number(plain.headers.get('content-length')));
    expect(text).toBe(plain.text);
    const again = await fetch(`${service.url}/docs/docs.js`, {
      headers: { 'Accept-Encoding': accepted, 'If-None-Match': headers.get('etag')! },
    });
    expect(again.status).toBe(304);
  });

  it('may be kept for good under the address that the page uses', async () => {
    const { text } = await get('/docs');
    const [address = ''] = /\/docs\/page\.js\?v=[^"]+/.exec(text)!;
    const { headers, text: script } = await get(address);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(script).toMatch(/ from '\.\/samples\.js\?v=/);
  });
});

describe('the page', () => {
  test.each(['/docs', '/docs/', '/docs/index.html'])('is at %s, without a key', async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect(answer.text).toContain('<title>Pet Store</title>');
  });

  it('loads only files of its own host, and all of them exist', async () => {
    const { text: html } = await get('/docs');
    const loaded = [...html.matchAll(/<(?:script|link|img)\b[^>]*?(?:src|href)="([^"]+)"/g)].map(
      ([, url]) => url!,
    );
    expect(loaded.length).toBeGreaterThan(3);
    for (const url of loaded) {
      expect(url).toMatch(/^\/(docs\/|openapi\.json$)/);
      expect((await get(url)).status).toBe(200);
    }
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it('may load only its own files', async () => {
    const directives = (await get('/docs')).headers.get('content-security-policy')!.split(';');
    expect(directives).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
  });

  it('has no inline script or style, which its Content-Security-Policy would block', async () => {
    const { text: html } = await get('/docs');
    expect(html.replace(/<script (type="module" )?src="[^"]+"( defer)?><\/script>/g, '')).not.toMatch(
      /<script|<style|\s(on\w+|style)=/,
    );
  });

  it('sends the policy with every file, and no Strict-Transport-Security', async () => {
    for (const path of ['/docs', '/docs/page.js', '/docs/swagger-ui.css']) {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.has('strict-transport-security')).toBe(false);
    }
  });

  test.each([
    '/docs/package.json',
    '/docs/index.js',
    '/docs/swagger-ui-bundle.js.map',
    '/docs/%2e%2e/package.json',
  ])('serves only the package files that it loads: %s is unknown', async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});

describe('a page', () => {
  it('has the same header fields for HEAD, and no body', async () => {
    const head = await fetch(`${service.url}/docs/guides/limits`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const { headers } = await get('/docs/guides/limits');
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control']) {
      expect([name, head.headers.get(name)]).toEqual([name, headers.get(name)]);
    }
  });

  it('is 405 for another method', async () => {
    const response = await fetch(`${service.url}/docs/guides/limits`, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed', status: 405 });
  });
});

describe('the root', () => {
  it('redirects a browser to the page', async () => {
    const { status, headers } = await get('/', { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([status, headers.get('location'), headers.get('vary')]).toEqual([302, '/docs', 'Accept']);
  });

  it.each([undefined, '*/*', 'application/json'])(
    'tells a program where the document is, if it accepts %s',
    async (accept) => {
      const { status, headers, text } = await get('/', accept === undefined ? {} : { Accept: accept });
      const { name, openapi, docs } = JSON.parse(text) as Record<string, string>;
      expect([status, name]).toEqual([200, 'Pet Store']);
      expect([(await get(openapi!)).status, (await get(docs!)).status]).toEqual([200, 200]);
      expect(headers.get('link')).toContain(`<${openapi}>; rel="service-desc"`);
      expect(headers.has('x-ratelimit-limit')).toBe(false);
    },
  );
});

describe('the search index', () => {
  it('has every operation, error code and guide, each with a valid link', async () => {
    const entries = JSON.parse((await get('/docs/search.json')).text) as Record<string, string>[];
    const count = (sought: string) => entries.filter(({ kind }) => kind === sought).length;
    expect(count('Operation')).toBe(operationsOf(service.document).size);
    expect(count('Error')).toBe(errorCatalogue().length);
    const pages = new Set(entries.map(({ href }) => href!.split('#')[0]!));
    expect(pages).toEqual(new Set(['/docs', ...GUIDES.map(guidePath)]));
    expect(entries.filter(({ text }) => text!.includes('Idempotency-Key')).length).toBeGreaterThan(5);
  });
});

describe('the document', () => {
  test.each([
    ['/openapi.json', /^application\/json/],
    ['/openapi.yaml', /^(application|text)\/yaml/],
  ])('is at %s, without a key', async (path, type) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(type);
  });

  it.each(['/openapi.json', '/openapi.yaml', '/docs/swagger-ui-bundle.js'])(
    'is kept in memory once for all requests: %s',
    async (path) => {
      await get(path);
      const end = jest.spyOn(ServerResponse.prototype, 'end');
      try {
        await get(path);
        await get(path);
        const [[first], [second]] = end.mock.calls as unknown as [[Buffer], [Buffer]];
        expect(first).toBeInstanceOf(Buffer);
        expect(second).toBe(first);
      } finally {
        end.mockRestore();
      }
    },
  );

  it('is never rate limited', async () => {
    service.clock.advance(60_000);
    const statuses = await Promise.all(
      Array.from({ length: 70 }, async () => (await get('/openapi.yaml')).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await get('/nope')).headers.get('x-ratelimit-remaining')).toBe('59');
  });
});

test.each(['/pets', '/pets/1', '/nope', '/rate-limit', '/health/live', '/openapi.json', '/docsy'])(
  'Other responses have no headers meant for pages: %s',
  async (path) => {
    const { headers } = await get(path);
    expect(HELMET.filter((name) => headers.has(name))).toEqual([]);
  },
);
