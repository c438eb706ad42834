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
  'changelog',
] as const;

export type GuideName = (typeof GUIDES)[number];

export const INDEX_PATH = '/docs/guides';

/** Returns the path of a guide's source, for programs and for readers who keep a copy. */
export function markdownPath(name: GuideName): string {
  return `${INDEX_PATH}/${name}.md`;
}

export function guidePath(name: GuideName): string {
  return name === INDEX_GUIDE ? INDEX_PATH : `${INDEX_PATH}/${name}`;
}

interface Highlighter {
  registerLanguage(name: string, language: unknown): void;
  getLanguage(name: string): unknown;
  highlight(code: string, options: { language: string }): { value: string };
}

/** Creates the Markdown renderer. Its packages are imported only when a page is requested, because the API does not need them. */
async function createRenderer(operations: Map<string, string>) {
  const load = async <Part>(file: string) =>
    ((await import(`highlight.js/lib/${file}`)) as { default: Part }).default;
  const highlighter = await load<Highlighter>('core');
  for (const name of ['bash', 'go', 'http', 'javascript', 'json', 'python']) {
    highlighter.registerLanguage(name, await load(`languages/${name}`));
  }
  const highlight = (code: string, language: string) =>
    highlighter.getLanguage(language) ? highlighter.highlight(code, { language }).value : '';
  const { default: MarkdownIt } = await import('markdown-it');
  const renderer = new MarkdownIt({ html: false, highlight });
  const code = renderer.renderer.rules.code_inline!;
  // The name of an operation becomes a link to the reference.
  renderer.renderer.rules.code_inline = (tokens, index, ...rest) => {
    const written = code(tokens, index, ...rest);
    const link = operations.get(tokens[index]!.content.replace(/\?.*/, ''));
    const isLinked = tokens[index - 1]?.type === 'link_open';
    return link === undefined || isLinked ? written : `<a href="${link}">${written}</a>`;
  };
  // A section's heading gets a link, from which readers can copy the address of the section.
  renderer.renderer.rules.heading_close = (tokens, index) => {
    const { tag } = tokens[index]!;
    const id = tokens[index - 2]!.attrGet('id');
    const link = ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
    return `${tag === 'h1' ? '' : link}</${tag}>\n`;
  };
  return renderer;
}

/** The root folder of the project: three levels above the sources, and four above the compiled files in `dist`. */
const ROOT = ['../../..', '../../../..']
  .map((way) => join(__dirname, way))
  .find((folder) => existsSync(join(folder, 'package.json')))!;

/** Reads a file that pages load. The build has collected and compressed these files. */
export async function readPageFile(name: string): Promise<{ parts: Buffer[]; brotli: Buffer }> {
  const [content, brotli] = await Promise.all(
    [name, `${name}.br`].map((file) => readFile(join(ROOT, 'dist/browser', file))),
  );
  return { parts: [content!], brotli: brotli! };
}

export async function readGuides({ paths }: OpenAPIObject) {
  const links = operationsIn(paths).map(({ name, link }) => [name, link] as const);
  const markdown = await createRenderer(new Map(links));
  const texts = await Promise.all(
    GUIDES.map((name) => readFile(join(ROOT, 'docs/guides', `${name}.md`), 'utf8')),
  );
  // Take the descriptions of all guides from the table in the first guide.
  const rows = texts[0]!.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const describe = (name: string) => rows.find(([, link]) => link?.endsWith(`(${name}.md)`))?.[2];
  return GUIDES.map((name, index) => {
    const tokens = markdown.parse(texts[index]!, {});
    const headings = arrange(tokens);
    const html = markdown.renderer.render(tokens, markdown.options, {});
    const sections = headings.filter(({ level }) => level === 'h2');
    const description = describe(name) ?? 'How to use the Pet Store API, with commands to try.';
    return { name, title: headings[0]!.title, description, text: texts[index]!, html, sections };
  });
}

export type Guide = Awaited<ReturnType<typeof readGuides>>[number];
// Infer the type, because markdown-it declares other types for `require`.
type Token = ReturnType<Awaited<ReturnType<typeof createRenderer>>['parse']>[number];

/**
 * Adds anchors to headings and error codes, names to code blocks with a file name and to cells, which have no heading
 * on a phone, and turns links to Markdown files into links to pages.
 * @returns the headings, in the order of the text
 */
function arrange(tokens: Token[]): { title: string; anchor: string; level: string }[] {
  let columns: string[] = [];
  let cells = 0;
  return tokens.flatMap((token, index) => {
    const text = (distance: number) => tokens[index + distance]?.content ?? '';
    const links = token.children?.filter(({ type }) => type === 'link_open') ?? [];
    links.forEach((link) => link.attrSet('href', pageAddressOf(String(link.attrGet('href')))));
    if (token.type === 'table_open') {
      // Make the table focusable: a wide table can then be scrolled with the keyboard as well.
      token.attrSet('tabindex', '0');
      columns = [];
      cells = 0;
    } else if (token.type === 'th_open') {
      columns.push(text(1).replaceAll('`', ''));
    } else if (token.type === 'td_open') {
      token.attrSet('data-name', columns[cells++ % columns.length]!);
    } else if (token.type === 'fence' && token.info.includes('.')) {
      token.attrSet('data-name', token.info.split(' ')[1]!);
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
function pageAddressOf(address: string): string {
  return address.replace(/^([\w-]+)\.md/, (_all, name: GuideName) => guidePath(name));
}

/** Icon of all pages, as a data URL. Without one, browsers would request `/favicon.ico`. */
const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32' fill='%231a5fb4'><circle cx='5' cy='14' r='4'/><circle cx='12' cy='6' r='4'/><circle cx='20' cy='6' r='4'/><circle cx='27' cy='14' r='4'/><ellipse cx='16' cy='22' rx='9' ry='7'/></svg>";

/** Returns an HTML page. Its links are relative, so that they also work behind a proxy with a path prefix. */
function htmlOf(path: string, title: string, about: string, head: string, body: string): string {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<meta name="description" content="${escaped(about)}">
<link rel="icon" href="${ICON}">
<script src="/docs/theme.js"></script>
${head}
</head>
<body>
${body}
</body>
</html>
`;
  return html.replace(/(href|src)="\//g, `$1="${rootFrom(path)}`);
}

/** Returns the operations in the order of the document, each with the link to its section of the reference. */
function operationsIn(paths: OpenAPIObject['paths']) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, OperationObject>).map(([method, operation]) => {
      const [tag] = operation.tags!;
      const name = `${method.toUpperCase()} ${path}`;
      const anchor = `tag/${tag!.toLowerCase()}/${name.replace(' ', '')}`;
      return { name, tag: tag!, anchor, link: `/docs#${anchor}`, operation };
    }),
  );
}

export function siteHeader(current: string): string {
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
  return htmlOf('/docs', 'Pet Store', ABOUT, head, body);
}

/** Adds the header of all pages to the page of Swagger UI, and settings for small screens. */
export function inSite(html: string, styles: string[]): string {
  const head = `<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escaped(ABOUT)}">
<script src="./docs/theme.js"></script>
<style>${styles.join('')}</style>
</head>`;
  const start = `<body>
${siteHeader('/swagger').replaceAll('href="/', 'href="./')}
<noscript><p>This page needs JavaScript. <a href=".${INDEX_PATH}">The guides</a> do not.</p></noscript>
<div id="content">`;
  return html
    .replace('</head>', () => head)
    .replace('<body>', () => start)
    .replace('</body>', '</div>\n</body>');
}

function textPage(path: string, title: string, about: string, more: string, content: string): string {
  const head = `<link rel="stylesheet" href="/docs/site.css">
<link rel="stylesheet" href="/docs/guide.css">
<script src="/docs/copying.js" defer></script>${more}`;
  const body = `${siteHeader(path)}\n${content}`;
  return htmlOf(path, `${title} · Pet Store`, about, head, body);
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
  const content = `<div class="columns">
<nav aria-label="Guides">${listOf(links)}</nav>
<main id="content">
${html.replace('</h1>', () => contents)}
<footer>${next ? `Next: ${next}` : links[0]} · <a href="${markdown}">This page as Markdown</a></footer>
</main>
</div>`;
  const more = `\n<link rel="alternate" type="text/markdown" href="${markdown}">`;
  const about = description.replaceAll('`', '');
  return textPage(guidePath(name), name === INDEX_GUIDE ? 'Guides' : title, about, more, content);
}

/** Returns the content of `/llms.txt`: an overview of the documentation for language models (llmstxt.org). */
export function llmsText(guides: Guide[]): string {
  const pages = guides.map(({ name, title }) => `- [${title}](${SHOWN_ADDRESS}${markdownPath(name)})`);
  return `# Pet Store

> ${ABOUT}

- [OpenAPI document](${SHOWN_ADDRESS}/openapi.json): every operation, error and header

## Guides

${pages.join('\n')}
`;
}

/**
 * Returns headers that allow a page to load only files of this service.
 * @param styles allowed sources of styles: Scalar and Swagger UI need inline styles
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
  const page = textPage(request.url.replace(/\?.*/, ''), 'Not found', 'There is no such page.', '', content);
  void reply.headers(GUIDE_HEADERS).type(HTML).send(page);
  return true;
}
