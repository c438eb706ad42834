import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import zlib from 'node:zlib';
import { GUIDES, guidePath, markdownPath } from '../../../../src/http/document/guides';
import type { Answer } from '../../../support/api-caller';
import { operationsOf } from '../../../support/document';
import { exchange, requestText } from '../../../support/raw-http';
import { useService } from '../../../support/use-service';

const PATHS = GUIDES.map(guidePath);

const service = useService();

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer<unknown>> =>
  service.anonymous().with(headers).get(path);

/** Requests each page once, however many pages link to it. */
const pages = new Map<string, Promise<Answer<unknown>>>();
function pageAt(path: string): Promise<Answer<unknown>> {
  const page = pages.get(path) ?? get(path);
  pages.set(path, page);
  return page;
}

/** The targets of the links of a page. Relative links are resolved against the path of the page. */
function linksIn(html: string, path: string): string[] {
  const links = [...html.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, link]) => link!);
  return links
    .filter((link) => !/^(data|https?):/.test(link))
    .map((link) =>
      link.startsWith('#') ? link : new URL(link, `http://x${path}`).href.slice('http://x'.length),
    );
}

/** Documents that contain the address at which the caller has reached the service. */
// prettier-ignore
const ADDRESSED = [
  '/openapi.json', '/docs/openapi.json', '/openapi.yaml', '/llms.txt',
  '/docs/guides/getting-started', '/docs/guides/getting-started.md',
];

it.each([
  ['/openapi.json', /^application\/json/],
  ['/docs/openapi.json', /^application\/json/],
  ['/openapi.yaml', /^(application|text)\/yaml/],
  ['/docs', /^text\/html/],
  ['/docs/guides/getting-started', /^text\/html/],
  ['/docs/guides/getting-started.md', /^text\/markdown/],
  ['/docs/guide.css', /^text\/css/],
  ['/llms.txt', /^text\/plain/],
  ['/swagger', /^text\/html/],
  ['/swagger/swagger-ui-init.js', /^text\/javascript/],
  ['/swagger/swagger-ui-bundle.js', /^text\/javascript/],
  ['/swagger/favicon-32x32.png', /^image\/png/],
])(
  'is served without a key, compressed, not again to a client that has it, and to other callers from no cache if it has an address: %s',
  async (path, type) => {
    const tags = new Set();
    for (const encoding of ['gzip', 'identity', 'br, gzip;q=0']) {
      const asked = { 'Accept-Encoding': encoding };
      const { status, headers } = await get(path, asked);
      expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(type)]);
      // The build has compressed the files.
      const isBuilt = /\.(css|png)$|bundle\.js$/.test(path);
      const coding = encoding.startsWith('br') && isBuilt ? 'br' : null;
      expect(headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : coding);
      expect([headers.get('cache-control'), headers.get('vary')]).toEqual([
        `${ADDRESSED.includes(path) ? 'private' : 'public'}, max-age=300`,
        'Origin, Accept-Encoding',
      ]);
      const tag = headers.get('etag')!;
      tags.add(tag);
      // A browser sends this to revalidate a file. Without it, Node's fetch would send `no-cache`.
      const again = await get(path, { ...asked, 'If-None-Match': tag, 'Cache-Control': 'max-age=0' });
      expect([again.status, again.text]).toEqual([304, '']);
    }
    expect(tags.size).toBeGreaterThan(1);
  },
);

it.each(['/docs', '/docs/guides/limits', '/swagger'])('Caches keep files of %s for ever', async (page) => {
  const links = linksIn((await get(page)).text, page).filter((link) => /\.(js|css|png)$/.test(link));
  expect(links.length).toBeGreaterThan(1);
  for (const link of links) {
    const { headers } = await get(link);
    expect([link, headers.get('cache-control')]).toEqual([link, 'public, max-age=31536000, immutable']);
    // The page of an instance of another version links to another digest, whose file must not be cached under this name.
    const other = await get(link.replace(/\.[\w-]{22}\./, '.another.'));
    expect([other.status, other.headers.get('etag')]).toEqual([200, headers.get('etag')]);
    expect(other.headers.get('cache-control')).toBe('public, max-age=300');
    const posted = await exchange(service.port, requestText(`POST ${link}`));
    expect([posted.status, posted.headers['x-ratelimit-limit']]).toEqual([405, undefined]);
  }
});

const GZIP = { 'Accept-Encoding': 'gzip' };

it.each(['/openapi.json', '/docs/openapi.json', '/openapi.yaml', '/llms.txt'])(
  'Whoever asks under a new address gets %s with it, and causes no compression',
  async (path) => {
    const at = async (host: string, more: Record<string, string> = {}) => {
      const asked = request({
        port: service.port,
        path,
        headers: { Host: host, ...more },
        agent: false,
      }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      const { statusCode: status, headers } = answer;
      return { status, headers, body: await buffer(answer) };
    };
    const plain = (await at('shop.example')).body.toString();
    expect(plain).toContain('http://shop.example');
    const compressions = (['gzip', 'gzipSync', 'deflateRaw', 'deflateRawSync'] as const).map((name) =>
      jest.spyOn(zlib, name),
    );
    for (const host of ['a.example', 'b.example:8080', `${'c'.repeat(60)}.example`]) {
      const { body, headers } = await at(host, GZIP);
      const expected = plain.replaceAll('http://shop.example', () => `http://${host}`);
      expect(zlib.gunzipSync(body).toString()).toBe(expected);
      expect((await at(host)).headers.etag).not.toBe(headers.etag);
      expect((await at(host, { ...GZIP, 'If-None-Match': headers.etag! })).status).toBe(304);
      expect((await at('d.example', GZIP)).headers.etag).not.toBe(headers.etag);
    }
    const calls = compressions.map((compression) => compression.mock.calls.length);
    compressions.forEach((compression) => compression.mockRestore());
    expect(calls).toEqual([0, 0, 0, 0]);
  },
);

it.each([
  ['/docs/guides/limits', ''],
  ['/docs/copying.js', ''],
  ['/docs', " 'unsafe-inline'"],
  ['/swagger', " 'unsafe-inline'"],
])('%s may load only its own files', async (path, style) => {
  const { headers } = await get(path);
  expect(headers.get('content-security-policy')).toBe(
    `default-src 'none'; script-src 'self'; style-src 'self'${style}; img-src 'self' data:; connect-src 'self'; ` +
      `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.has('strict-transport-security')).toBe(false);
});

// prettier-ignore
test.each([
  '/docs/guides/nope.md', '/docs/guides/limits/', '/docs/guides/..%2fREADME.md',
  '/docs/%2e%2e/package.json', '/swagger/swagger-ui-bundle.js.map', '/swagger-json', '/swagger-yaml',
])('Only files that pages load are served: %s is unknown', async (path) => {
  expect((await get(path)).status).toBe(404);
});

it.each(PATHS)('The guide at %s is a page, without a key and without broken links', async (path) => {
  const { status, headers, text } = await pageAt(path);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(text).toMatch(/<title>[A-Z].+ · Pet Store<\/title>\n<meta name="description" content="[A-Z`].+">/);
  expect(text.match(/<h1 /g)).toHaveLength(1);
  expect(linksIn(text, path)).toEqual(expect.arrayContaining([...PATHS, '/docs']));
  expect(text.match(/ aria-current="page"/g)).toHaveLength(path === guidePath('README') ? 2 : 1);
  expect(text).not.toContain('http://127.0.0.1:3000');
  for (const link of linksIn(text, path)) {
    const [target = '', anchor] = link.split('#');
    const { status, text: there } = target === '' ? { status: 200, text } : await pageAt(target);
    expect([link, status]).toEqual([link, 200]);
    if (anchor !== undefined) expect(there).toContain(` id="${anchor}"`);
  }
});

it('/docs names all operations and links to all guides before any script runs, and needs two small files at most for that', async () => {
  const { text } = await get('/docs');
  expect(text).toMatch(/<h1>Pet Store<\/h1>[^]*Place an order<\/a> <code>POST \/store\/orders<\/code>/);
  expect(text.match(/<a id="tag\//g)).toHaveLength(operationsOf(service.document).size);
  expect(linksIn(text, '/docs')).toEqual(expect.arrayContaining(PATHS));
  // Before a browser paints, it loads the page, its style sheets, and the scripts that are not deferred.
  const [head] = text.split('</head>');
  const blocking = [...head!.matchAll(/<(?:link rel="stylesheet" href|script src)="([^"]+)"(?! defer)/g)];
  const files = blocking.map(([, link]) => new URL(link!, 'http://x/docs').pathname);
  const sizes = ['/docs', ...files].map(async (path) => {
    const { headers } = await get(path, GZIP);
    return Number(headers.get('content-length'));
  });
  expect((await Promise.all(sizes)).reduce((sum, size) => sum + size)).toBeLessThan(40_000);
});

it('A guide has its text before any script runs: the address of the service, a table of contents, a name for each cell of a table, which a phone shows as its heading, and links to the operations that it names', async () => {
  const { text: first } = await pageAt(guidePath('getting-started'));
  expect(first.replace(/<[^>]*>/g, '')).toContain(`export BASE=${service.url}`);
  const { text } = await pageAt(guidePath('limits'));
  expect(text).toMatch(
    /<nav class="contents" aria-label="On this page">[^]*<a href="#bans">Bans<[^]*<\/nav>/,
  );
  expect(text).toContain('<td data-name="Requests per day">1,000</td>');
  expect(text).toContain('href="../../docs#tag/account/GET/rate-limit"><code>GET /rate-limit</code></a>');
});

it('llms.txt lists the guides and the document, with the address of the service', async () => {
  const { text } = await get('/llms.txt');
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link);
  expect(links).toEqual(['/openapi.json', ...GUIDES.map(markdownPath)].map((path) => service.url + path));
});

it.each(['/docs', '/docs/guides', '/swagger'])('%s/ redirects, below a prefix too', async (path) => {
  const { status, headers } = await get(`${path}/`);
  const target = new URL(headers.get('location')!, `http://x/shop${path}/`);
  expect([status, target.pathname]).toEqual([301, `/shop${path}`]);
});

it('A browser gets a page for what is not there, with a Content-Security-Policy, and is counted', async () => {
  const { key } = await service.issueKey({ plan: 'free' });
  const options = { 'X-API-Key': key, Accept: 'text/html,*/*;q=0.8' };
  const { status, text, headers } = await get('/docs/guides/nope/deep', options);
  expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(headers.get('x-ratelimit-remaining')).toBe('59');
  const forProgram = await get('/docs/guides/nope');
  expect([headers, forProgram.headers].map((one) => one.get('vary'))).toEqual(
    Array(2).fill('Origin, Accept'),
  );
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(linksIn(text, '/docs/guides/nope/deep')).toContain(guidePath('README'));
  expect((await get('/nope', options)).headers.get('content-type')).toContain('application/json');
});

it.each(['/', '/openapi.json', '/docs/guides', '/swagger'])(
  'Conditions hold at %s, and count for nobody',
  async (path) => {
    service.clock.advance(60_000);
    for (const [condition, status] of [
      ['If-None-Match: *', 304],
      ['If-None-Match: "other"', 200],
      ['If-Match: *', 200],
      ['If-Match: "other"', 412],
    ] as const) {
      const answer = await exchange(service.port, requestText(`GET ${path}`, [condition]));
      expect([condition, answer.status]).toEqual([condition, status]);
    }
    expect((await get('/nope')).headers.get('x-ratelimit-remaining')).toBe('59');
  },
);

describe('the root', () => {
  it('redirects a browser to the page', async () => {
    const { status, headers } = await get('/', { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([status, headers.get('location'), headers.get('vary')]).toEqual([302, '/docs', 'Origin, Accept']);
  });

  it.each([undefined, '*/*', 'application/json'])('leads a program to the document: %s', async (accept) => {
    const { status, headers, text } = await get('/', accept === undefined ? {} : { Accept: accept });
    const { name, openapi, docs } = JSON.parse(text) as Record<string, string>;
    expect([status, name]).toEqual([200, 'Pet Store']);
    expect([(await get(openapi!)).status, (await get(docs!)).status]).toEqual([200, 200]);
    expect(headers.get('link')).toContain(`<${openapi}>; rel="service-desc"`);
    expect(headers.has('x-ratelimit-limit')).toBe(false);
  });
});
