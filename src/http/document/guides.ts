import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

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
  'deprecation',
] as const;

export type GuideName = (typeof GUIDES)[number];

export const INDEX_PATH = '/docs/guides';

/** The path that serves a guide. */
export function guidePath(name: GuideName): string {
  return name === INDEX_GUIDE ? INDEX_PATH : `${INDEX_PATH}/${name}`;
}

/** The content below one heading. */
interface GuideSection {
  title: string;
  anchor: string;
  level: number;
  text: string;
}

export interface Guide {
  name: GuideName;
  /** The first heading. */
  title: string;
  html: string;
  sections: GuideSection[];
}

// The package has different types for require; these are the types of the dynamic import below.
type Markdown = Awaited<ReturnType<typeof createRenderer>>;
type Token = ReturnType<Markdown['parse']>[number];

const LANGUAGES = ['bash', 'http', 'javascript', 'json'];

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
  const sections = sectionsOf(tokens);
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return { name, title: sections[0]?.title ?? name, html, sections };
}

/** Gives each heading its anchor. */
function sectionsOf(tokens: Token[]): GuideSection[] {
  const sections: GuideSection[] = [];
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') {
      const title = tokens[index + 1]!.content.replaceAll('`', '');
      const anchor = anchorOf(title);
      sections.push({ title, anchor, level: Number(token.tag.slice(1)), text: '' });
      token.attrSet('id', anchor);
    } else if (['inline', 'fence'].includes(token.type) && tokens[index - 1]?.type !== 'heading_open') {
      const text = token.content.replace(/\]\([^()]*\)/g, '').replace(/[`*[\]]/g, '');
      sections.at(-1)!.text += `${text.replace(/\s+/g, ' ')} `;
    }
  });
  return sections;
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
  const markdown = new MarkdownIt({ html: false, highlight });
  markdown.core.ruler.push('label cells', ({ tokens }) => labelCells(tokens));
  const normalizeLink = markdown.normalizeLink.bind(markdown);
  markdown.normalizeLink = (address) => normalizeLink(servedAddress(address));
  return markdown;
}

/**
 * Labels each cell with the name of its column, because narrow screens show a row as a list. Adds anchors to the code
 * in tables, such as error codes.
 */
function labelCells(tokens: Token[]): void {
  let columns: string[] = [];
  let column = 0;
  tokens.forEach((token, index) => {
    const content = tokens[index + 1]?.content ?? '';
    if (token.type === 'table_open') {
      columns = [];
    } else if (token.type === 'tr_open') {
      column = 0;
    } else if (token.type === 'th_open') {
      columns.push(content);
    } else if (token.type === 'td_open') {
      token.attrSet('data-column', columns[column] ?? '');
      const [, code] = /^`(\w+)`$/.exec(content) ?? [];
      if (code && column === 0) {
        token.attrSet('id', code);
      }
      column += 1;
    }
  });
}

/** The anchor of a heading, in the format of code hosts, so that links work in the sources as well. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Sources link to `limits.md#bans`, which becomes `/docs/guides/limits#bans` on a page. */
function servedAddress(address: string): string {
  const [, name, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(address) ?? [];
  const guide = GUIDES.find((known) => known === name);
  return guide ? `${guidePath(guide)}${anchor}` : address;
}
