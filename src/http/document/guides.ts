// This file reads the guides, which are Markdown files in docs/guides, and turns them into HTML.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import { ROOT } from './served-content';

export const INDEX_GUIDE = 'README';

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

/**
 * Returns the path under which the service serves a guide as Markdown, for programs and for readers who keep a copy.
 */
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
  // If a guide has the name of an operation as inline code, the name becomes a link to the reference.
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
    const headings = annotate(tokens);
    const html = markdown.renderer.render(tokens, markdown.options, {});
    const sections = headings.filter(({ level }) => level === 'h2');
    const description = describe(name) ?? 'How to use the Pet Store API, with commands to try.';
    return { name, title: headings[0]!.title, description, text: texts[index]!, html, sections };
  });
}

export type Guide = Awaited<ReturnType<typeof readGuides>>[number];
// Infer the type of a token from the renderer, because markdown-it declares other types for `require` than for
// `import`.
type Token = ReturnType<Awaited<ReturnType<typeof createRenderer>>['parse']>[number];

/**
 * Completes the tokens of a guide. Headings and error codes get anchors, to which links can point. A code block gets
 * the name of its file, if the guide gives one. A table cell gets the name of its column, because a phone shows a table
 * without column headings. A link to a Markdown file becomes a link to the page of that guide.
 * @returns the headings, in the order of the text
 */
function annotate(tokens: Token[]): { title: string; anchor: string; level: string }[] {
  let columns: string[] = [];
  let cells = 0;
  return tokens.flatMap((token, index) => {
    const text = (distance: number) => tokens[index + distance]?.content ?? '';
    const links = token.children?.filter(({ type }) => type === 'link_open') ?? [];
    links.forEach((link) => link.attrSet('href', pageAddressOf(String(link.attrGet('href')))));
    if (token.type === 'table_open') {
      // Let the table have the keyboard focus, so that a wide table can be scrolled with the keyboard as well.
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
      // Anchors have the same form as on GitHub, so that a link to a section works both there and on these pages.
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

/** Returns the operations in the order of the document, each with the link to its section of the reference. */
export function operationsIn(paths: OpenAPIObject['paths']) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, OperationObject>).map(([method, operation]) => {
      const [tag] = operation.tags!;
      const name = `${method.toUpperCase()} ${path}`;
      const anchor = `tag/${tag!.toLowerCase()}/${name.replace(' ', '')}`;
      return { name, tag: tag!, anchor, link: `/docs#${anchor}`, operation };
    }),
  );
}
