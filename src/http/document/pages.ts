// This file builds the HTML pages, and the overview of the documentation for language models (`/llms.txt`).
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Guide, INDEX_GUIDE, INDEX_PATH, guidePath, markdownPath, operationsIn } from './guides';
import { HTML, ADDRESS_PLACEHOLDER, escaped, rootFrom } from './served-content';

/** Icon of all pages, as a data URL. Without an icon, browsers would request `/favicon.ico`. */
const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32' fill='%231a5fb4'><circle cx='5' cy='14' r='4'/><circle cx='12' cy='6' r='4'/><circle cx='20' cy='6' r='4'/><circle cx='27' cy='14' r='4'/><ellipse cx='16' cy='22' rx='9' ry='7'/></svg>";

interface HtmlPage {
  path: string;
  title: string;
  description: string;
  /** HTML to add to the element `head`, such as links to stylesheets. */
  head: string;
  body: string;
}

/**
 * Makes the links of a page that begin with `/` relative, so that the links also work behind a proxy that adds a path
 * prefix.
 */
function withRelativeLinks(path: string, html: string): string {
  return html.replace(/(href|src)="\//g, `$1="${rootFrom(path)}`);
}

function htmlOf({ path, title, description, head, body }: HtmlPage): string {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<meta name="description" content="${escaped(description)}">
<link rel="icon" href="${ICON}">
<script src="/docs/theme.js"></script>
${head}
</head>
<body>
${body}
</body>
</html>
`;
  return withRelativeLinks(path, html);
}

function siteHeader(current: string): string {
  const pages = { [INDEX_PATH]: 'Guides', '/docs': 'Reference', '/swagger': 'Swagger UI' };
  const links = Object.entries(pages).map(([path, text]) => {
    const isPart = current.startsWith(`${path}/`) && path === INDEX_PATH;
    const mark = path === current ? ' aria-current="page"' : isPart ? ' aria-current="true"' : '';
    return `<a href="${path}"${mark}>${text}</a>`;
  });
  return `<a class="skip" href="#content">Skip to the content</a>
<header class="site"><a class="brand" href="/docs">Pet Store</a>
<nav aria-label="Site">${links.join(' ')}</nav></header>`;
}

const ABOUT = 'Pets, the categories they belong to, orders and stock, over HTTP with an API key.';

/**
 * Returns the API reference. Without JavaScript, readers see a list of the operations; otherwise Scalar replaces the
 * list.
 * @param styles the content of style sheets, which become part of the page
 */
export function referencePage({ paths }: OpenAPIObject, guides: Guide[], styles: string[]): string {
  const operations = operationsIn(paths);
  const hidden = operations
    .filter(({ operation }) => 'x-hideTryItPanel' in operation)
    .map(({ name }) => `section[id$="/${name.replace(' ', '')}"] .show-api-client-button`);
  const head = `<style>${styles.join('')}${hidden.join()} { display: none }</style>
<link rel="preload" href="/docs/openapi.json" as="fetch" crossorigin>
<script src="/docs/scalar.js" defer></script>
<script src="/docs/reference.js" defer></script>`;
  const tags = [...new Set(operations.map(({ tag }) => tag))].map((tag) => {
    const items = operations
      .filter((one) => one.tag === tag)
      .map(({ name, anchor, operation }) => {
        return `<a id="${escaped(anchor)}" href="#${escaped(anchor)}">${escaped(operation.summary!)}</a> <code>${name}</code>`;
      });
    return `<h2>${tag}</h2>\n${listOf(items)}`;
  });
  const toGuides = guides.slice(1).map(({ name, title, description }) => {
    return `<a href="${guidePath(name)}">${escaped(title)}</a>: ${escaped(description.replaceAll('`', ''))}`;
  });
  const body = `${siteHeader('/docs')}
<main id="content" class="before">
<h1>Pet Store</h1>
<p>${ABOUT} The <a href="/openapi.yaml">OpenAPI document</a> has every detail.</p>
<noscript><p>Samples, and forms to try an operation, need JavaScript.</p></noscript>
<h2>Guides</h2>
${listOf(toGuides)}
${tags.join('\n')}
</main>
<div id="reference"></div>`;
  return htmlOf({ path: '/docs', title: 'Pet Store', description: ABOUT, head, body });
}

/**
 * Completes the page of Swagger UI. Adds the plugins for Swagger UI, and the site header, the theme and the styles that
 * all pages have. Adds a text that readers see until Swagger UI has loaded. Leaves out the script that adds the top bar
 * of Swagger UI.
 */
export function withSiteHeader(html: string, styles: string[]): string {
  const head = `<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escaped(ABOUT)}">
<script src="/docs/theme.js"></script>
<script src="/swagger/swagger-plugins.js"></script>
<style>${styles.join('')}</style>
</head>`;
  const start = `<body>
${siteHeader('/swagger')}
<div id="content">`;
  const standIn = `<p>Swagger UI needs JavaScript and a moment to load. <a href="${INDEX_PATH}">The guides</a> do not.</p>`;
  const page = html
    .replace('</head>', () => head)
    .replace(/<script src="[^"]*standalone-preset.js">.*\n/, '')
    .replace('<div id="swagger-ui">', (place) => place + standIn)
    .replace('<body>', () => start)
    .replace('</body>', '</div>\n</body>');
  return withRelativeLinks('/swagger', page);
}

/** Returns the HTML of a page with the site header and the styles of the guides. */
function textPage(page: HtmlPage): string {
  const head = `<link rel="stylesheet" href="/docs/site.css">
<link rel="stylesheet" href="/docs/guide.css">
<script src="/docs/copying.js" defer></script>${page.head}`;
  const body = `${siteHeader(page.path)}\n${page.body}`;
  return htmlOf({ ...page, title: `${page.title} · Pet Store`, head, body });
}

const listOf = (links: string[]): string => `<ul>${links.map((link) => `<li>${link}</li>`).join('\n')}</ul>`;

export function guidePage({ name, title, description, html, sections }: Guide, guides: Guide[]): string {
  const markdown = markdownPath(name);
  const links = guides.map((other) => {
    const text = other.name === INDEX_GUIDE ? 'All guides' : escaped(other.title);
    return `<a href="${guidePath(other.name)}"${other.name === name ? ' aria-current="page"' : ''}>${text}</a>`;
  });
  const next = links[guides.findIndex((other) => other.name === name) + 1];
  const anchors = sections.map((section) => `<a href="#${section.anchor}">${escaped(section.title)}</a>`);
  const contents = `</h1>\n<nav class="contents" aria-label="On this page">${listOf(anchors)}</nav>`;
  const body = `<div class="columns">
<nav aria-label="Guides">${listOf(links)}</nav>
<main id="content">
${html.replace('</h1>', () => contents)}
<footer>${next ? `Next: ${next}` : links[0]} · <a href="${markdown}">This page as Markdown</a></footer>
</main>
</div>`;
  return textPage({
    path: guidePath(name),
    title: name === INDEX_GUIDE ? 'Guides' : title,
    description: description.replaceAll('`', ''),
    head: `\n<link rel="alternate" type="text/markdown" href="${markdown}">`,
    body,
  });
}

/** Returns the content of `/llms.txt`: an overview of the documentation for language models (llmstxt.org). */
export function llmsText(guides: Guide[]): string {
  const pages = guides.map(({ name, title }) => `- [${title}](${ADDRESS_PLACEHOLDER}${markdownPath(name)})`);
  return `# Pet Store

> ${ABOUT}

- [OpenAPI document](${ADDRESS_PLACEHOLDER}/openapi.json): every operation, error and header

## Guides

${pages.join('\n')}
`;
}

/**
 * Returns headers that allow a page to load only files of this service.
 * @param styles allowed sources of styles: Scalar and Swagger UI need inline styles
 */
function pageHeaders(styles: string) {
  return {
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  };
}

export const GUIDE_HEADERS = pageHeaders("'self'");
export const LIBRARY_HEADERS = pageHeaders("'self' 'unsafe-inline'");

/** True if a browser requests a page. Programs and scripts usually accept JSON or any type instead. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

/**
 * If a browser requests an unknown path below `/docs`, sends a page instead of an error in JSON.
 * @returns true if the page was sent
 */
export function sendUnknownPage(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!request.url.startsWith('/docs/')) {
    return false;
  }
  void reply.header('Vary', 'Origin, Accept');
  if (!wantsPage(request)) {
    return false;
  }
  const body = `<main id="content">
<h1>There is no such page</h1>
<p>Look for it in <a href="${INDEX_PATH}">the guides</a> or <a href="/docs">the reference</a>.</p>
</main>`;
  const path = request.url.replace(/\?.*/, '');
  const page = textPage({ path, title: 'Not found', description: 'There is no such page.', head: '', body });
  void reply.headers(GUIDE_HEADERS).type(HTML).send(page);
  return true;
}
