import type { OpenAPIObject } from '@nestjs/swagger';
import { escaped, htmlOf, sideBar } from '../pages/frame';
import { INDEX_GUIDE, INDEX_PATH, guidePath } from './guides-list';
import type { Guide } from './guides-markdown';

const HIGHLIGHTING = `<link rel="stylesheet" href="/docs/github.css" media="(prefers-color-scheme: light)">
<link rel="stylesheet" href="/docs/github-dark.css" media="(prefers-color-scheme: dark)">
`;

export function guidePage(guide: Guide, document: OpenAPIObject, guides: Guide[]): string {
  const contents = guide.sections.filter(({ level }) => level === 2);
  const entries = contents.map(({ title, anchor }) => `<li><a href="#${anchor}">${escaped(title)}</a></li>`);
  const onThisPage = `<nav class="contents" aria-labelledby="contents"><strong id="contents">On this page</strong><ul>${entries.join('\n')}</ul></nav>\n`;
  const next = guides[guides.indexOf(guide) + 1];
  const following = next
    ? `Next: <a href="${guidePath(next.name)}" rel="next">${escaped(next.title)}</a>`
    : `<a href="${INDEX_PATH}">All guides</a>`;
  return htmlOf({
    title: `${guide.name === INDEX_GUIDE ? 'Guides' : escaped(guide.title)} – Pet Store`,
    head: HIGHLIGHTING,
    side: sideBar(document, guides, guide.name),
    body: `<main id="operations">
${guide.html.replace('</h1>\n', (end) => end + (entries.length > 1 ? onThisPage : ''))}<footer>${following}</footer>
</main>`,
  });
}
