import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootFrom } from './shared-content';

/** The guide that lists the others. */
export const INDEX_GUIDE = 'README';

/** The guides in reading order. Each is a file of this name in docs/guides. */
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

/** The path that serves a guide. */
export function guidePath(name: GuideName): string {
  return name === INDEX_GUIDE ? INDEX_PATH : `${INDEX_PATH}/${name}`;
}

export interface Guide {
  name: GuideName;
  /** The first heading. */
  title: string;
  html: string;
  /** The headings of its sections. */
  sections: { title: string; anchor: string }[];
}

/** The used part of highlight.js. Its own types would add those of browsers to every file. */
interface Highlighter {
  registerLanguage(name: string, language: unknown): void;
  getLanguage(name: string): unknown;
  highlight(code: string, options: { language: string }): { value: string };
}

/** Loaded for the first page: the service itself does not need it. */
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

/** Reads and renders all guides: docs/guides of the checkout or package, one level above the compiled files in dist/. */
export async function readGuides(): Promise<Guide[]> {
  const markdown = await createRenderer();
  const besideSources = join(__dirname, '../../../docs/guides');
  const folder = existsSync(besideSources) ? besideSources : join(__dirname, '../../../../docs/guides');
  return Promise.all(
    GUIDES.map(async (name) => {
      const tokens = markdown.parse(await readFile(join(folder, `${name}.md`), 'utf8'), {});
      const headings = arrange(tokens, rootFrom(guidePath(name)));
      const html = markdown.renderer.render(tokens, markdown.options, {});
      const sections = headings.filter(({ level }) => level === 'h2');
      return { name, title: headings[0]!.title, html, sections };
    }),
  );
}

// The package has different types for require; these are the types of the dynamic import.
type Token = ReturnType<Awaited<ReturnType<typeof createRenderer>>['parse']>[number];

/** Gives anchors to headings and to rows that begin with a code, and leads links to the pages. @returns the headings */
function arrange(tokens: Token[], root: string): { title: string; anchor: string; level: string }[] {
  return tokens.flatMap((token, index) => {
    const text = (distance: number) => tokens[index + distance]?.content ?? '';
    const links = token.children?.filter(({ type }) => type === 'link_open') ?? [];
    links.forEach((link) => link.attrSet('href', pageOf(link.attrGet('href')!, root)));
    if (token.type === 'table_open') {
      // A wide one can be scrolled with the keyboard.
      token.attrSet('tabindex', '0');
    } else if (token.type === 'tr_open' && /^`\w+`$/.test(text(2))) {
      token.attrSet('id', text(2).slice(1, -1));
    } else if (token.type === 'heading_open') {
      const title = text(1).replaceAll('`', '');
      const anchor = anchorOf(title);
      token.attrSet('id', anchor);
      return [{ title, anchor, level: token.tag }];
    }
    return [];
  });
}

/** The anchor of a heading, in the format of code hosts, so that links work in the sources as well. */
function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '');
  return words.replaceAll(' ', '-');
}

/** Sources link to `limits.md#bans` and `/docs`; pages to `…/docs/guides/limits#bans` and `…/docs`, whatever prefix they have. */
function pageOf(address: string, root: string): string {
  const [, name, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(address) ?? [];
  const guide = GUIDES.find((known) => known === name);
  const path = guide ? guidePath(guide) + anchor : address;
  return path.replace(/^\//, root);
}
