import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GUIDES, type GuideName, guidePath } from './guides-list';

export interface Guide {
  name: GuideName;
  /** The first heading. */
  title: string;
  html: string;
}

// The package describes itself differently to those who require it; these are the types of what is imported below.
type Markdown = Awaited<ReturnType<typeof loadMarkdown>>;
type Token = ReturnType<Markdown['parse']>[number];

/** Reads and renders all guides. */
export async function readGuides(): Promise<Guide[]> {
  const markdown = await createRenderer();
  const folder = guidesFolder();
  return Promise.all(
    GUIDES.map(async (name) => toGuide(markdown, name, await readFile(join(folder, `${name}.md`), 'utf8'))),
  );
}

/** docs/guides of the checkout or package, which is one level further up from the compiled files in dist/. */
function guidesFolder(): string {
  const besideSources = join(__dirname, '../../../docs/guides');
  return existsSync(besideSources) ? besideSources : join(__dirname, '../../../../docs/guides');
}

function toGuide(markdown: Markdown, name: GuideName, text: string): Guide {
  const tokens = markdown.parse(text, {});
  const heading = tokens.findIndex(({ type }) => type === 'heading_open');
  const title = tokens[heading + 1]?.content ?? name;
  return { name, title, html: markdown.renderer.render(tokens, markdown.options, {}) };
}

/** Loaded when the first guide is asked for: the service itself has no use for it. */
async function loadMarkdown() {
  const { default: MarkdownIt } = await import('markdown-it');
  return new MarkdownIt({ html: false });
}

/** Markdown as it reads on a page: headings can be linked to, links lead to pages, and cells know their columns. */
async function createRenderer(): Promise<Markdown> {
  const markdown = await loadMarkdown();
  const { rules } = markdown.renderer;
  rules.heading_open = (tokens, index, options, _environment, renderer) => {
    tokens[index]!.attrSet('id', anchorOf(tokens[index + 1]!.content));
    return renderer.renderToken(tokens, index, options);
  };
  markdown.core.ruler.push('label cells', ({ tokens }) => labelCells(tokens));
  const normalizeLink = markdown.normalizeLink.bind(markdown);
  markdown.normalizeLink = (address) => normalizeLink(servedAddress(address));
  return markdown;
}

/** Gives each cell the name of its column: on a narrow screen a row is shown as a list. */
function labelCells(tokens: Token[]): void {
  let columns: string[] = [];
  let column = 0;
  tokens.forEach(({ type }, index) => {
    if (type === 'table_open') {
      columns = [];
    } else if (type === 'tr_open') {
      column = 0;
    } else if (type === 'th_open') {
      columns.push(tokens[index + 1]!.content);
    } else if (type === 'td_open') {
      tokens[index]!.attrSet('data-column', columns[column] ?? '');
      column += 1;
    }
  });
}

/** The anchor of a heading, made as code hosts make it, so that a link to it works in the sources as well. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** `limits.md#bans`, as the sources link to each other, is `/docs/guides/limits#bans` on a page. */
function servedAddress(address: string): string {
  const [, name, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(address) ?? [];
  const guide = GUIDES.find((known) => known === name);
  return guide ? `${guidePath(guide)}${anchor}` : address;
}
