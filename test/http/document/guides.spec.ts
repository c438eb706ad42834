import { GUIDES, guidePath } from '../../../src/http/document/guides';
import { errorCatalogue } from '#libs/http';
import { useService } from '../../support/use-service';
import { type Operation, operationsOf } from '../../support/document';

const PATHS = GUIDES.map(guidePath);
const STYLE_PATH = '/docs/docs.css';
const service = useService();

interface Fetched {
  status: number;
  headers: Headers;
  text: string;
}

async function ask(path: string, options: RequestInit = {}): Promise<Fetched> {
  const answer = await fetch(`${service.url}${path}`, { redirect: 'manual', ...options });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Each target is asked for once, however many pages link to it. */
const pages = new Map<string, Promise<Fetched>>();
function pageAt(path: string): Promise<Fetched> {
  const page = pages.get(path) ?? ask(path);
  pages.set(path, page);
  return page;
}

function linksIn(html: string): string[] {
  return [...html.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, address]) => address!);
}

/** The anchors of Swagger UI: `#/Tag` and `#/Tag/operationId`. */
function anchorsOfOperations(): string[] {
  const operations: Operation[] = [...operationsOf(service.document).values()];
  const groups = service.document.tags!.map(({ name }) => `/${name}`);
  return [...groups, ...operations.map(({ tags, operationId }) => `/${tags[0]}/${operationId}`)];
}

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

  it('needs nothing that its Content-Security-Policy forbids', async () => {
    const { headers, text } = await pageAt(path);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const ownScripts = /<script type="module" src="\/docs\/\w+\.js\?v=[\w-]+"><\/script>/g;
    expect(text.replace(ownScripts, '')).not.toMatch(/<script|<style|\sstyle=|\son\w+=/);
  });
});

function idsIn(html: string): string[] {
  return [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id!);
}

describe('requests for guides', () => {
  let key: string;
  beforeEach(async () => {
    service.clock.advance(60_000);
    ({ key } = await service.issueKey({ plan: 'free' }));
  });

  it('are never counted, with or without a key', async () => {
    for (const headers of [{ 'X-API-Key': key }, undefined]) {
      for (const path of [...PATHS, STYLE_PATH]) {
        expect((await ask(path, { headers })).headers.has('x-ratelimit-limit')).toBe(false);
      }
      expect((await ask('/pets', { headers })).headers.get('x-ratelimit-remaining')).toBe('59');
    }
  });

  it('are redirected from the list with a trailing slash to the one without', async () => {
    const { status, headers } = await ask('/docs/guides/', { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([301, '/docs/guides']);
  });

  it.each([
    '/docs/guides/nope',
    '/docs/guides/limits.md',
    '/docs/guides/limits/',
    '/docs/guides/..%2fREADME.md',
  ])('that do not exist are answered and counted like any unknown path: %s', async (path) => {
    const { status, text, headers } = await ask(path, { headers: { 'X-API-Key': key } });
    expect([status, JSON.parse(text)]).toEqual([
      404,
      { code: 'route_not_found', message: expect.any(String) as string, status: 404 },
    ]);
    expect(headers.get('x-ratelimit-remaining')).toBe('59');
  });

  it('that do not exist get an HTML page in a browser, with a Content-Security-Policy, and are counted', async () => {
    const options = { headers: { 'X-API-Key': key, Accept: 'text/html,*/*;q=0.8' } };
    const { status, text, headers } = await ask('/docs/guides/nope', options);
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect([headers.get('vary'), headers.get('x-ratelimit-remaining')]).toEqual(['Accept', '59']);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).toContain(`<a href="${guidePath('README')}">`);
    expect((await ask('/nope', options)).headers.get('content-type')).toContain('application/json');
  });
});

it('The document links to the guides, wherever it is read', () => {
  const { info, externalDocs } = service.document;
  const links = [...info.description!.matchAll(/\]\(([^)]+)\)/g)].map(([, address]) => address);
  const paths = [externalDocs!.url, ...links].map((link) => link!.replace('http://127.0.0.1:3000', ''));
  expect(PATHS).toEqual(expect.arrayContaining(paths));
  expect(links.length).toBeGreaterThan(1);
});

it('Every error code has an anchor', async () => {
  const { text } = await ask(guidePath('errors'));
  const codes = errorCatalogue().map(({ code }) => code);
  expect(codes.filter((code) => !idsIn(text).includes(code))).toEqual([]);
});

it('Commands and responses are highlighted, commands without a script', async () => {
  const { text } = await ask(guidePath('getting-started'));
  expect(text).toContain('<span class="hljs-variable">$KEY</span>');
});

it('A deprecated operation links to the guide that explains it', async () => {
  const { headers } = await (await service.caller()).get('/pets/1');
  const [, target] = /<([^>]+)>; rel="deprecation"/.exec(headers.get('link')!)!;
  const { status, text } = await ask(target!);
  expect(status).toBe(200);
  expect(text).toContain('<code>GET /pets/{petId}</code>');
});
