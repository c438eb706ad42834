import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootFrom } from './served-address';

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

// The package has different types for require; these are the types of the dynamic import below.
type Markdown = Awaited<ReturnType<typeof createRenderer>>;
type Token = ReturnType<Markdown['parse']>[number];

const LANGUAGES = ['bash', 'go', 'http', 'javascript', 'json', 'python'];

/** Reads and renders all guides. */
export async function readGuides(): Promise<Guide[]> {
  const markdown = await createRenderer();
  const folder = guidesFolder();
  return Promise.all(
    GUIDES.map(async (name) => toGuide(markdown, name, await readFile(join(folder, `${name}.md`), 'utf8'))),
  );
}

/** docs/guides of the checkout or package, one level above the compiled files in dist/. */
function guidesFolder(): string {
  const besideSources = join(__dirname, '../../../docs/guides');
  return existsSync(besideSources) ? besideSources : join(__dirname, '../../../../docs/guides');
}

function toGuide(markdown: Markdown, name: GuideName, text: string): Guide {
  const tokens = markdown.parse(text, {});
  const headings = tokens.flatMap((token, index) => {
    if (token.type !== 'heading_open') {
      return [];
    }
    const title = tokens[index + 1]!.content.replaceAll('`', '');
    token.attrSet('id', anchorOf(title));
    return [{ title, anchor: anchorOf(title), level: token.tag }];
  });
  arrangeTables(tokens);
  leadLinks(tokens, rootFrom(guidePath(name)));
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return { name, title: headings[0]!.title, html, sections: headings.filter(({ level }) => level === 'h2') };
}

/** The anchor of a heading, in the format of code hosts, so that links work in the sources as well. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** A row that begins with a code can be linked to. Wide tables can be scrolled with the keyboard. */
function arrangeTables(tokens: Token[]): void {
  tokens.forEach((token, index) => {
    const [, code] = /^`(\w+)`$/.exec(tokens[index + 2]?.content ?? '') ?? [];
    if (token.type === 'table_open') {
      token.attrSet('tabindex', '0');
    } else if (token.type === 'tr_open' && code) {
      token.attrSet('id', code);
    }
  });
}

/** Sources link to `limits.md#bans` and `/docs`; pages to `…/docs/guides/limits#bans` and `…/docs`, whatever prefix they have. */
function leadLinks(tokens: Token[], root: string): void {
  const links = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open');
  for (const link of links) {
    const address = link.attrGet('href')!;
    const [, name, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(address) ?? [];
    const guide = GUIDES.find((known) => known === name);
    const path = guide ? `${guidePath(guide)}${anchor}` : address;
    link.attrSet('href', path.replace(/^\//, root));
  }
}

/** The used part of highlight.js. Its own types would add those of browsers to every file. */
interface Highlighter {
  registerLanguage(name: string, language: unknown): void;
  getLanguage(name: string): unknown;
  highlight(code: string, options: { language: string }): { value: string };
}

/** Loaded for the first page: the service itself does not need it. */
async function loadHighlighter(): Promise<Highlighter> {
  const load = async (file: string) =>
    ((await import(`highlight.js/lib/${file}`)) as { default: unknown }).default;
  const highlighter = (await load('core')) as Highlighter;
  for (const name of LANGUAGES) {
    highlighter.registerLanguage(name, await load(`languages/${name}`));
  }
  return highlighter;
}

/** A renderer from Markdown to the HTML of a page. */
async function createRenderer() {
  const [{ default: MarkdownIt }, highlighter] = await Promise.all([
    import('markdown-it'),
    loadHighlighter(),
  ]);
  const highlight = (code: string, language: string) =>
    highlighter.getLanguage(language) ? highlighter.highlight(code, { language }).value : '';
  return new MarkdownIt({ html: false, highlight });
}
