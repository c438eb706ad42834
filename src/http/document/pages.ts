import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Guide, type GuideName, INDEX_GUIDE, INDEX_PATH, guidePath } from './guides';
import { pageFiles } from './page-files';
import { SHOWN_ADDRESS, rootFrom } from './served-address';
import { HTML } from './shared-content';

interface Page {
  path: string;
  title: string;
  head?: string;
  body: string;
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Without an icon, browsers ask for one at the root of the host. */
const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32' fill='%231a5fb4'><circle cx='5' cy='14' r='4'/><circle cx='12' cy='6' r='4'/><circle cx='20' cy='6' r='4'/><circle cx='27' cy='14' r='4'/><ellipse cx='16' cy='22' rx='9' ry='7'/></svg>";

function htmlOf({ path, title, head = '', body }: Page): string {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
${head}</head>
<body>
${body}
</body>
</html>
`;
  return html.replace(/(href|src)="\//g, `$1="${rootFrom(path)}`);
}

/** Operations whose panel to try them is turned off: the library does not know the marker, but gives each operation an id. */
function hidden(document: OpenAPIObject): string {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, OperationObject>).map(
      ([method, operation]) => [`${method.toUpperCase()}${path}`, operation as object] as const,
    ),
  );
  return operations
    .filter(([, operation]) => 'x-hideTryItPanel' in operation)
    .map(([name]) => `section[id$="/${name}"] .show-api-client-button { display: none }`)
    .join('\n');
}

/** All operations, by Scalar. */
export function referencePage(document: OpenAPIObject): string {
  return htmlOf({
    path: '/docs',
    title: 'Pet Store',
    head: `<link rel="preload" href="/openapi.json" as="fetch" crossorigin>
<style>${hidden(document)}</style>
<script src="${pageFiles().scalar.path}" defer></script>
<script src="${pageFiles().reference.path}" defer></script>
`,
    body: `<div id="reference"></div>
<noscript><p>The reference needs JavaScript. <a href="${INDEX_PATH}">The guides</a> and <a href="/openapi.yaml">the OpenAPI document</a> do not.</p></noscript>`,
  });
}

const HEADER = `<a class="skip" href="#content">Skip to the content</a>
<header><a class="brand" href="/docs">Pet Store</a>
<nav aria-label="Site"><a href="${INDEX_PATH}">Guides</a> <a href="/docs">Reference</a> <a href="/swagger">Swagger UI</a></nav></header>`;

const styled = () => `<link rel="stylesheet" href="${pageFiles().styles.path}">\n`;

/** A guide as it is read without JavaScript, with the address of the service in its commands. */
export function guidePage(name: GuideName, guides: Guide[], address: string): string {
  const guide = guides.find((each) => each.name === name)!;
  const next = guides[guides.indexOf(guide) + 1];
  const entries = guides.map(({ name: other, title }) => {
    const here = other === name ? ' aria-current="page"' : '';
    return `<li><a href="${guidePath(other)}"${here}>${other === INDEX_GUIDE ? 'All guides' : escaped(title)}</a></li>`;
  });
  const sections = guide.sections.map(
    ({ title, anchor }) => `<li><a href="#${anchor}">${escaped(title)}</a></li>`,
  );
  const onThisPage = `<nav class="contents" aria-label="On this page"><ul>${sections.join('\n')}</ul></nav>`;
  return htmlOf({
    path: guidePath(name),
    title: `${name === INDEX_GUIDE ? 'Guides' : escaped(guide.title)} – Pet Store`,
    head: `${styled()}<script src="${pageFiles().copying.path}" defer></script>\n`,
    body: `${HEADER}
<div class="columns">
<nav aria-label="Guides"><ul>${entries.join('\n')}</ul></nav>
<main id="content">
${guide.html.replace('</h1>\n', (end) => end + (sections.length > 1 ? onThisPage : '')).replaceAll(SHOWN_ADDRESS, address)}
<footer>${next ? `Next: <a href="${guidePath(next.name)}" rel="next">${escaped(next.title)}</a>` : `<a href="${INDEX_PATH}">All guides</a>`}</footer>
</main>
</div>`,
  });
}

/** What programs that read for people find first (llmstxt.org). */
export function llmsText(guides: Guide[], address: string): string {
  const pages = guides.map(({ name, title }) => `- [${title}](${address}${guidePath(name)})`);
  return `# Pet Store

> Pets, the categories they belong to, orders and stock, over HTTP with an API key.

- [OpenAPI document](${address}/openapi.json): all operations, with every error and header
- [Reference](${address}/docs): the same for people

## Guides

${pages.join('\n')}
`;
}

/** A page may load its own files. The libraries write styles into theirs. */
function policyWith(styles: string): string {
  return `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

const PROTECTED = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Header fields that protect a guide, and a page of a library. */
export const GUIDE_HEADERS = { ...PROTECTED, 'Content-Security-Policy': policyWith("'self'") };
export const LIBRARY_HEADERS = {
  ...PROTECTED,
  'Content-Security-Policy': policyWith("'self' 'unsafe-inline'"),
};

/** Whether a browser requests a page. Programs and scripts in browsers accept anything or JSON. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

/** Answers a browser that requests an unknown page below `/docs`. @returns whether it did */
export function sendUnknownPage(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!request.url.startsWith('/docs/') || !wantsPage(request)) {
    return false;
  }
  const page = htmlOf({
    path: request.url.replace(/\?.*/, ''),
    title: 'Not found – Pet Store',
    head: styled(),
    body: `${HEADER}
<main id="content">
<h1>There is no such page</h1>
<p>Look for it in <a href="${INDEX_PATH}">the guides</a> or <a href="/docs">the reference</a>.</p>
</main>`,
  });
  void reply
    .headers({ ...GUIDE_HEADERS, Vary: 'Origin, Accept' })
    .type(HTML)
    .send(page);
  return true;
}
