import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import helmet from 'helmet';
import { errorCatalogue } from '#libs/http';
import { type Guide, type GuideName, INDEX_GUIDE, INDEX_PATH, guidePath } from './guides';

interface Tag {
  name: string;
  description?: string;
  'x-parent'?: string;
}

/** The parts of a page besides its frame. */
interface Page {
  title: string;
  head?: string;
  /** The side bar; omitted on the page for unknown paths. */
  side?: string;
  body: string;
}

export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** A whole page, without inline content that its policy would have to allow. */
function htmlOf({ title, head = '', side = '', body }: Page): string {
  const menu = side && '<button type="button" class="menu-button" popovertarget="menu">Menu</button>';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/docs.css">
<script type="module" src="/docs/docs.js"></script>
${head}</head>
<body>
<a class="skip" href="#operations">Skip to the content</a>
<header>${menu}<a class="brand" href="/docs#/">Pet Store</a>
<button type="button" class="find">Search <kbd>Ctrl K</kbd></button>
</header>
<dialog class="search" aria-label="Search" closedby="any">
<input type="search" aria-label="Search" placeholder="Operations, error codes and guides" autocomplete="off">
<button type="button">Close</button><ol></ol><p role="status"></p>
</dialog>
${side}${body}
</body>
</html>
`;
}

/** The side bar: the guides, then the operations by group. */
function sideBar(document: OpenAPIObject, guides: Guide[], current?: GuideName): string {
  const links = guides.map(({ name, title }) => {
    const here = name === current ? ' aria-current="page"' : '';
    return `<li><a href="${guidePath(name)}"${here}>${name === INDEX_GUIDE ? 'Overview' : escaped(title)}</a></li>`;
  });
  const tags = document.tags as Tag[];
  const section = ({ name }: Tag, level = 2): string => {
    const operations = operationsOf(document, name).map(entryOf).join('\n');
    const inner = tags.filter((tag) => tag['x-parent'] === name).map((tag) => section(tag, 3));
    const list = operations && `<ul>\n${operations}\n</ul>`;
    return `<section><h${level}><a href="/docs#/${name}">${name}</a></h${level}>${list}${inner.join('\n')}</section>`;
  };
  return `<nav id="menu" popover aria-label="Contents">
<section><h2><a href="${INDEX_PATH}">Guides</a></h2><ul>${links.join('\n')}</ul></section>
${tags
  .filter((tag) => !tag['x-parent'])
  .map((tag) => section(tag))
  .join('\n')}
</nav>
`;
}

interface ListedOperation {
  path: string;
  method: string;
  operation: OperationObject;
  href: string;
  /** Deprecated, beta or experimental. */
  marks: string[];
}

/** The operations of a tag, or all operations. */
export function operationsOf({ paths }: OpenAPIObject, tag?: string): ListedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, OperationObject>).flatMap(([method, operation]) => {
      const [own = ''] = operation.tags ?? [];
      const stability = (operation as { 'x-stability'?: string })['x-stability'];
      const marks = [operation.deprecated ? 'deprecated' : '', stability ?? ''].filter(Boolean);
      const href = `/docs#/${own}/${operation.operationId}`;
      return tag === undefined || tag === own ? [{ path, method, operation, href, marks }] : [];
    }),
  );
}

function entryOf({ path, method, operation, href, marks }: ListedOperation): string {
  const badges = marks.map((mark) => `<span class="badge ${mark}">${mark}</span>`).join('');
  const name = `<span class="method ${method}">${method}</span>`;
  const words = `<span class="path"><span>${escaped(operation.summary!)}</span> ${badges}</span>`;
  return `<li><a href="${href}" title="${method.toUpperCase()} ${path}">${name}${words}</a></li>`;
}

const SWAGGER_UI = `<link rel="preload" href="/openapi.json" as="fetch" crossorigin>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script type="module" src="/docs/page.js"></script>
`;

/** The page of the operations: how to start, and Swagger UI. */
export function operationsPage(document: OpenAPIObject, guides: Guide[]): string {
  return htmlOf({
    title: 'Pet Store',
    head: SWAGGER_UI,
    side: sideBar(document, guides),
    body: `<div>
<section class="wrapper">
<h1>Pet Store <small>${document.info.version}</small></h1>
<p>Base URL: <code>http://127.0.0.1:3000</code>. Send your API key as <code>X-API-Key</code>; <a href="/docs/guides/getting-started">how to get one</a>.</p>
<p>Start with <a href="#/Animals/listPets">listing pets</a>, <a href="#/Animals/createPet">creating one</a> and <a href="#/Orders/placeOrder">placing an order</a>. As a file: <a href="/openapi.json">openapi.json</a>, <a href="/openapi.yaml">openapi.yaml</a>.</p>
<noscript><p>The operations need JavaScript here.</p></noscript>
</section>
<div id="page"></div>
</div>`,
  });
}

const HIGHLIGHTING = `<link rel="stylesheet" href="/docs/github.css" media="(prefers-color-scheme: light)">
<link rel="stylesheet" href="/docs/github-dark.css" media="(prefers-color-scheme: dark)">
`;

export function guidePage(guide: Guide, document: OpenAPIObject, guides: Guide[]): string {
  const contents = guide.sections.filter(({ level }) => level === 2);
  const entries = contents.map(({ title, anchor }) => `<li><a href="#${anchor}">${escaped(title)}</a></li>`);
  const onThisPage = `<nav class="contents" aria-labelledby="contents"><strong id="contents">On this page</strong><ul>${entries.join('\n')}</ul></nav>\n`;
  const next = guides[guides.indexOf(guide) + 1];
  const following = next
    ? `Next: <a href="${guidePath(next.name)}" rel="next">${escaped(next.title)}</a>`
    : `<a href="${INDEX_PATH}">All guides</a>`;
  return htmlOf({
    title: `${guide.name === INDEX_GUIDE ? 'Guides' : escaped(guide.title)} – Pet Store`,
    head: HIGHLIGHTING,
    side: sideBar(document, guides, guide.name),
    body: `<main id="operations">
${guide.html.replace('</h1>\n', (end) => end + (entries.length > 1 ? onThisPage : ''))}<footer>${following}</footer>
</main>`,
  });
}

/** All searchable entries: operations, error codes and the guides' sections. */
export function searchIndex(document: OpenAPIObject, guides: Guide[]) {
  const operations = operationsOf(document).map(({ path, method, operation, href, marks }) => {
    const { summary = '', description = '', tags = [], operationId, parameters = [] } = operation;
    const names = parameters.map((part) =>
      'name' in part ? part.name : part.$ref.slice(part.$ref.lastIndexOf('/') + 1),
    );
    // Searched, but not shown.
    const words = [...tags, operationId, ...names, ...marks].join(' ');
    const text = `${method.toUpperCase()} ${path} – ${description.replace(/[`*]/g, '')}`;
    return { title: summary, kind: 'Operation', text, words, href };
  });
  const errors = errorCatalogue().map(({ code, status, when }) => {
    const text = `${status}: ${when.replaceAll('`', '')}`;
    return { title: code, kind: 'Error', text, href: `${guidePath('errors')}#${code}` };
  });
  const sections = guides.flatMap((guide) =>
    guide.sections.map(({ title, level, anchor, text }) => {
      const name = level === 1 ? title : `${guide.title}: ${title}`;
      return {
        title: name,
        kind: 'Guide',
        text,
        href: guidePath(guide.name) + (level === 1 ? '' : `#${anchor}`),
      };
    }),
  );
  return [...operations, ...errors, ...sections];
}

/** What the page may load: its own files, and the inline images of Swagger UI's style sheet. */
const CONTENT_SECURITY_POLICY = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

/** Sets the header fields that protect a page. */
export const setPageHeaders = helmet({
  contentSecurityPolicy: CONTENT_SECURITY_POLICY,
  // The service speaks plain HTTP; the TLS proxy in front of it decides about these.
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  // Not every response of this origin has the field, and browsers would complain.
  originAgentCluster: false,
});

/** The page for a browser that requests an unknown path below /docs. */
const UNKNOWN_PAGE = htmlOf({
  title: 'Not found – Pet Store',
  body: `<main id="operations">
<h1>There is no such page</h1>
<p>Look for it in <a href="${INDEX_PATH}">the guides</a>, among <a href="/docs">the operations</a>, or search.</p>
</main>`,
});

/** Whether a browser requests a page. Programs and scripts in browsers accept anything or JSON. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

/** Answers a browser that requests an unknown page below `/docs`. @returns whether it did */
export function sendUnknownPage(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!request.url.startsWith('/docs/') || !wantsPage(request)) {
    return false;
  }
  setPageHeaders(request.raw, reply.raw, () => undefined);
  void reply.header('Vary', 'Origin, Accept').type('text/html; charset=utf-8').send(UNKNOWN_PAGE);
  return true;
}
