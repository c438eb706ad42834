import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HTML, SHOWN_ADDRESS, escaped, rootFrom } from './shared-content';

const INDEX_GUIDE = 'README';

/** Names of the Markdown files in docs/guides, in reading order. */
export const GUIDES = [
  INDEX_GUIDE,
  'getting-started',
  'authentication',
  'limits',
  'errors',
  'pagination',
  'events',
  'idempotency',
  'clients',
  'deprecation',
] as const;

export type GuideName = (typeof GUIDES)[number];

export const INDEX_PATH = '/docs/guides';

export function guidePath(name: GuideName): string {
  return name === INDEX_GUIDE ? INDEX_PATH : `${INDEX_PATH}/${name}`;
}

/** Declared here, because the types of highlight.js would make the types of browsers available in every file. */
interface Highlighter {
  registerLanguage(name: string, language: unknown): void;
  getLanguage(name: string): unknown;
  highlight(code: string, options: { language: string }): { value: string };
}

/** Creates the Markdown renderer. Its packages are imported only when a page is requested, because the API does not need them. */
async function createRenderer() {
  const load = async <Part>(file: string) =>
    ((await import(`highlight.js/lib/${file}`)) as { default: Part }).default;
  const highlighter = await load<Highlighter>('core');
  for (const name of ['bash', 'go', 'http', 'javascript', 'json', 'python']) {
    highlighter.registerLanguage(name, await load(`languages/${name}`));
  }
  const highlight = (code: string, language: string) =>
    highlighter.getLanguage(language) ? highlighter.highlight(code, { language }).value : '';
  const { default: MarkdownIt } = await import('markdown-it');
  return new MarkdownIt({ html: false, highlight });
}

/** The root folder of the project: three levels above the sources, and four above the compiled files in `dist`. */
const ROOT = ['../../..', '../../../..']
  .map((way) => join(__dirname, way))
  .find((folder) => existsSync(join(folder, 'package.json')))!;

export function readPageFile(name: string): Promise<Buffer> {
  return readFile(join(ROOT, 'dist/browser', name));
}

export async function readGuides() {
  const markdown = await createRenderer();
  const texts = await Promise.all(
    GUIDES.map((name) => readFile(join(ROOT, 'docs/guides', `${name}.md`), 'utf8')),
  );
  // The first guide has a table with the names and descriptions of all guides.
  const rows = texts[0]!.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const describe = (name: string) => rows.find(([, link]) => link?.endsWith(`(${name}.md)`))?.[2];
  return GUIDES.map((name, index) => {
    const tokens = markdown.parse(texts[index]!, {});
    const headings = arrange(tokens);
    const html = markdown.renderer.render(tokens, markdown.options, {});
    const sections = headings.filter(({ level }) => level === 'h2');
    const description = describe(name) ?? 'How to use the Pet Store API, with commands to try.';
    return { name, title: headings[0]!.title, description, html, sections };
  });
}

export type Guide = Awaited<ReturnType<typeof readGuides>>[number];
// Infer the type from the dynamic import, because markdown-it declares other types for `require`.
type Token = ReturnType<Awaited<ReturnType<typeof createRenderer>>['parse']>[number];

/**
 * Adds an anchor to each heading and to each table row that starts with an error code. Turns links to Markdown files into links
 * to pages.
 * @returns the headings, in the order of the text
 */
function arrange(tokens: Token[]): { title: string; anchor: string; level: string }[] {
  return tokens.flatMap((token, index) => {
    const text = (distance: number) => tokens[index + distance]?.content ?? '';
    const links = token.children?.filter(({ type }) => type === 'link_open') ?? [];
    links.forEach((link) => link.attrSet('href', pageOf(String(link.attrGet('href')))));
    if (token.type === 'table_open') {
      // Make the table focusable: a wide table can then be scrolled with the keyboard as well.
      token.attrSet('tabindex', '0');
    } else if (token.type === 'tr_open' && /^`\w+`$/.test(text(2))) {
      token.attrSet('id', text(2).slice(1, -1));
    } else if (token.type === 'heading_open') {
      const title = text(1).replaceAll('`', '');
      // Anchors have the same form as on GitHub, so that a link to a section works there, too.
      const anchor = title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
      token.attrSet('id', anchor);
      return [{ title, anchor, level: token.tag }];
    }
    return [];
  });
}

/** Turns a link in a Markdown file (`limits.md#bans`) into a link to the page (`/docs/guides/limits#bans`). */
function pageOf(address: string): string {
  return address.replace(/^([\w-]+)\.md/, (_all, name: GuideName) => guidePath(name));
}

/** Icon of all pages, as a data URL. Without one, browsers would request `/favicon.ico`. */
const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32' fill='%231a5fb4'><circle cx='5' cy='14' r='4'/><circle cx='12' cy='6' r='4'/><circle cx='20' cy='6' r='4'/><circle cx='27' cy='14' r='4'/><ellipse cx='16' cy='22' rx='9' ry='7'/></svg>";

/** Links of the page are relative, so that they also work if a proxy adds a path prefix. */
function htmlOf(path: string, title: string, head: string, body: string): string {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="${ICON}">
${head}
</head>
<body>
${body}
</body>
</html>
`;
  return html.replace(/(href|src)="\//g, `$1="${rootFrom(path)}`);
}

/**
 * Returns the page with the API reference, which Scalar renders. A style hides the "try it" button of operations with
 * `x-hideTryItPanel`, because Scalar ignores this extension.
 */
export function referencePage({ paths }: OpenAPIObject): string {
  const hidden = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, OperationObject>)
      .filter(([, operation]) => 'x-hideTryItPanel' in operation)
      .map(([method]) => `section[id$="/${method.toUpperCase()}${path}"] .show-api-client-button`),
  );
  const head = `<link rel="preload" href="/docs/openapi.json" as="fetch" crossorigin>
<style>${hidden.join()} { display: none }</style>
<script src="/docs/scalar.js" defer></script>
<script src="/docs/reference.js" defer></script>`;
  const body = `<div id="reference"></div>
<noscript>This page needs JavaScript. <a href="${INDEX_PATH}">The guides</a> and <a href="/openapi.yaml">the OpenAPI document</a> do not.</noscript>`;
  return htmlOf('/docs', 'Pet Store', head, body);
}

function textPage(path: string, title: string, content: string): string {
  const head =
    '<link rel="stylesheet" href="/docs/guide.css">\n<script src="/docs/copying.js" defer></script>';
  const body = `<a class="skip" href="#content">Skip to the content</a>
<header><a class="brand" href="/docs">Pet Store</a>
<nav aria-label="Site"><a href="${INDEX_PATH}">Guides</a> <a href="/docs">Reference</a> <a href="/swagger">Swagger UI</a></nav></header>
${content}`;
  return htmlOf(path, `${title} – Pet Store`, head, body);
}

/** Adds a link to each heading, from which readers can copy the address of the section. */
function withAnchors(html: string): string {
  const link = '<a class="anchor" href="#$2" aria-label="Link to this section">#</a>';
  return html.replace(/<(h[23]) id="([^"]+)">(.*?)<\/\1>/g, `<$1 id="$2">$3 ${link}</$1>`);
}

const listOf = (links: string[]): string => `<ul>${links.map((link) => `<li>${link}</li>`).join('\n')}</ul>`;

export function guidePage({ name, title, html, sections }: Guide, guides: Guide[]): string {
  const links = guides.map((other) => {
    const text = other.name === INDEX_GUIDE ? 'All guides' : escaped(other.title);
    return `<a href="${guidePath(other.name)}"${other.name === name ? ' aria-current="page"' : ''}>${text}</a>`;
  });
  const next = links[guides.findIndex((other) => other.name === name) + 1];
  const anchors = sections.map((section) => `<a href="#${section.anchor}">${escaped(section.title)}</a>`);
  const contents = `</h1>\n<nav class="contents" aria-label="On this page">${listOf(anchors)}</nav>`;
  const content = `<div class="columns">
<nav aria-label="Guides">${listOf(links)}</nav>
<main id="content">
${withAnchors(html).replace('</h1>', () => contents)}
<footer>${next ? `Next: ${next}` : links[0]}</footer>
</main>
</div>`;
  return textPage(guidePath(name), name === INDEX_GUIDE ? 'Guides' : title, content);
}

/** Returns the content of `/llms.txt`: an overview of the documentation for language models (llmstxt.org). */
export function llmsText(guides: Guide[]): string {
  const pages = guides.map(({ name, title }) => `- [${title}](${SHOWN_ADDRESS}${guidePath(name)})`);
  return `# Pet Store

> Pets, the categories they belong to, orders and stock, over HTTP with an API key.

- [OpenAPI document](${SHOWN_ADDRESS}/openapi.json): every operation, error and header

## Guides

${pages.join('\n')}
`;
}

/**
 * Returns headers that allow a page to load only files of this service.
 * @param styles allowed sources of styles: Scalar and Swagger UI also need inline styles
 */
function protecting(styles: string) {
  return {
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  };
}

export const GUIDE_HEADERS = protecting("'self'");
export const LIBRARY_HEADERS = protecting("'self' 'unsafe-inline'");

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
  const content = `<main id="content">
<h1>There is no such page</h1>
<p>Look for it in <a href="${INDEX_PATH}">the guides</a> or <a href="/docs">the reference</a>.</p>
</main>`;
  const page = textPage(request.url.replace(/\?.*/, ''), 'Not found', content);
  void reply.headers(GUIDE_HEADERS).type(HTML).send(page);
  return true;
}
