import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT, filesOf, read } from '../../support/files';

const FOLDERS = ['docs', 'docker', 'libs', 'test'].flatMap((folder) => filesOf(folder, '.md'));
const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...FOLDERS];

/** The anchors of a page, as code hosts make them from its headings. */
function anchorsOf(markdown: string): string[] {
  const headings = markdown.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The links of a page that lead nowhere; `/docs` and the like are for the service to answer, and tested there. */
function brokenLinks(page: string): string[] {
  const markdown = read(page);
  const links = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    if (/^(https?:|mailto:|\/)/.test(path)) {
      return false;
    }
    const target = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path));
    if (!existsSync(join(ROOT, target))) {
      return true;
    }
    const text = path === '' ? markdown : anchor && read(target);
    return anchor !== undefined && !anchorsOf(text!).includes(anchor);
  });
}

it.each(PAGES)('No link is broken: %s', (page) => {
  expect(brokenLinks(page)).toEqual([]);
});
