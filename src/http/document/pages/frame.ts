import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import { type GuideName, INDEX_GUIDE, INDEX_PATH, guidePath } from '../guides/guides-list';
import type { Guide } from '../guides/guides-markdown';

interface Tag {
  name: string;
  'x-parent'?: string;
}

/** The parts of a page besides its frame. */
interface Page {
  title: string;
  head?: string;
  /** In the header, next to the search. */
  bar?: string;
  /** The side bar; omitted on the page for unknown paths. */
  side?: string;
  body: string;
}

export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** A whole page, without inline content that its policy would have to allow. */
export function htmlOf({ title, head = '', bar = '', side = '', body }: Page): string {
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
<header>${menu}<a class="brand" href="/docs">Pet Store</a>
<button type="button" class="find">Search <kbd>Ctrl K</kbd></button>
${bar}</header>
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
export function sideBar(document: OpenAPIObject, guides: Guide[], current?: GuideName): string {
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

export interface ListedOperation {
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
  const words = `<span class="path"><span>${path.replaceAll('/', '/<wbr>')}</span> ${badges}</span>`;
  return `<li><a href="${href}" title="${escaped(operation.summary!)}">${name}${words}</a></li>`;
}
