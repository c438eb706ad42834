import { errorCatalogue } from '#libs/http';
import { GUIDES, guidePath } from '../../../../src/http/document/guides';
import type { Answer } from '../../../support/api-client';
import { type Operation, operationsOf } from '../../../support/document';
import { useService } from '../../../support/use-service';

const PATHS = GUIDES.map(guidePath);

const service = useService();

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer<unknown>> =>
  service.anonymous().with(headers).get(path);

/** Each target is asked for once, however many pages link to it. */
const pages = new Map<string, Promise<Answer<unknown>>>();
function pageAt(path: string): Promise<Answer<unknown>> {
  const page = pages.get(path) ?? get(path);
  pages.set(path, page);
  return page;
}

function linksIn(html: string): string[] {
  return [...html.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, address]) => address!);
}

/** The anchors of Swagger UI: `#/` for the overview, `#/Tag` and `#/Tag/operationId`. */
function anchorsOfOperations(): string[] {
  const operations: Operation[] = [...operationsOf(service.document).values()];
  const groups = service.document.tags!.map(({ name }) => `/${name}`);
  return ['/', ...groups, ...operations.map(({ tags, operationId }) => `/${tags[0]}/${operationId}`)];
}

function idsIn(html: string): string[] {
  return [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id!);
}

it.each([
  ['/openapi.json', /^application\/json/],
  ['/openapi.yaml', /^(application|text)\/yaml/],
  ['/docs', /^text\/html/],
  ['/docs/guides/limits', /^text\/html/],
  ['/docs/docs.css', /^text\/css/],
  ['/docs/search.json', /^application\/json/],
  ['/docs/swagger-ui-bundle.js', /^application\/javascript/],
  ['/docs/favicon-32x32.png', /^image\/png/],
])('is served without a key, and not again to a client that has it: %s', async (path, type) => {
  const { status, headers } = await get(path);
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(type)]);
  expect(headers.get('cache-control')).toBe('public, max-age=300');
  const tag = headers.get('etag')!;
  // As a browser revalidates; Node's fetch would ask for a reload.
  const again = await get(path, { 'If-None-Match': tag, 'Cache-Control': 'max-age=0' });
  expect([again.status, again.text]).toEqual([304, '']);
});

describe('the page', () => {
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

  it('sends the policy with every file, and no Strict-Transport-Security', async () => {
    for (const path of ['/docs/guides', '/docs/page.js', '/docs/swagger-ui.css']) {
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

describe.each(PATHS)('the guide at %s', (path) => {
  it('is a page, without a key', async () => {
    const { status, headers, text } = await pageAt(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toMatch(/<title>[A-Z].+ – Pet Store<\/title>/);
    expect(text.match(/<h1 /g)).toHaveLength(1);
    expect(text).toMatch(/<nav id="menu".*<\/nav>/s);
    expect(text).toContain(`<a href="${path}" aria-current="page">`);
  });

  it('has no broken links', async () => {
    const { text } = await pageAt(path);
    for (const link of linksIn(text)) {
      const [target = '', anchor] = link.split('#');
      const { status, text: there } = target === '' ? { status: 200, text } : await pageAt(target);
      expect([link, status]).toEqual([link, 200]);
      const anchors = target === '/docs' ? anchorsOfOperations() : idsIn(there);
      expect(anchor === undefined ? [] : [anchor].filter((name) => !anchors.includes(name))).toEqual([]);
    }
  });
});

it.each(['/docs', ...PATHS])(
  '%s has no inline script or style, which the policy would block',
  async (path) => {
    const { text } = await pageAt(path);
    expect(text.replace(/<script (type="module" )?src="[^"]+"( defer)?><\/script>/g, '')).not.toMatch(
      /<script|<style|\s(on\w+|style)=/,
    );
  },
);

describe('requests for pages', () => {
  let key: string;
  beforeEach(async () => {
    service.clock.advance(60_000);
    ({ key } = await service.issueKey({ plan: 'free' }));
  });

  it('are redirected from /docs/guides/', async () => {
    const { status, headers } = await get('/docs/guides/');
    expect([status, headers.get('location')]).toEqual([301, '/docs/guides']);
  });

  it.each([
    '/docs/guides/nope',
    '/docs/guides/limits.md',
    '/docs/guides/limits/',
    '/docs/guides/..%2fREADME.md',
  ])('that do not exist are answered and counted like any unknown path: %s', async (path) => {
    const { status, text, headers } = await get(path, { 'X-API-Key': key });
    expect([status, JSON.parse(text)]).toEqual([
      404,
      { code: 'route_not_found', message: expect.any(String) as string, status: 404 },
    ]);
    expect(headers.get('x-ratelimit-remaining')).toBe('59');
  });

  it('that do not exist get an HTML page in a browser, with a Content-Security-Policy, and are counted', async () => {
    const options = { 'X-API-Key': key, Accept: 'text/html,*/*;q=0.8' };
    const { status, text, headers } = await get('/docs/guides/nope', options);
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect([headers.get('vary'), headers.get('x-ratelimit-remaining')]).toEqual(['Origin, Accept', '59']);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).toContain(`<a href="${guidePath('README')}">`);
    expect((await get('/nope', options)).headers.get('content-type')).toContain('application/json');
  });
});

it('Every error code has an anchor', async () => {
  const { text } = await get(guidePath('errors'));
  const codes = errorCatalogue().map(({ code }) => code);
  expect(codes.filter((code) => !idsIn(text).includes(code))).toEqual([]);
});

describe('the root', () => {
  it('redirects a browser to the page', async () => {
    const { status, headers } = await get('/', { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([status, headers.get('location'), headers.get('vary')]).toEqual([302, '/docs', 'Origin, Accept']);
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
