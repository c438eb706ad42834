import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { errorCatalogue } from '#libs/http';
// The catalogue of errors is complete when every feature is loaded.
import '../../../src/app.module';
import { settingNames } from '../../../src/all-settings';
import { type GuideName, GUIDES } from '../../../src/http/document/guides';
import { EVENT_TYPES } from '../../../src/modules/events';
import { PLANS, PLAN_LIMITS } from '../../../src/modules/quotas/rules/limits';
import { operationsOf } from '../../support/document';
import { ROOT, filesOf, read, readYaml } from '../../support/files';
import { readGuide } from '../../support/guides';

const document = readYaml<OpenAPIObject>('openapi.yaml')[0]!;
const operations = operationsOf(document);

const FOLDERS = ['docs', 'docker', 'libs', 'test'].flatMap((folder) => filesOf(folder, '.md'));
const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...FOLDERS];

/** The anchors that code hosts make from the headings of a page. */
function anchorsOf(markdown: string): string[] {
  const headings = markdown.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The links of a page whose target does not exist. Links to the service, such as `/docs`, are tested in served-documents.spec.ts. */
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

/** The rows of all tables below matching headings, each with its heading. The marks of code are removed. */
function rowsOf(name: GuideName, heading: RegExp): { heading: string; cells: string[] }[] {
  const sections = readGuide(name).split(/^#+ /m);
  return sections
    .filter((section) => heading.test(section))
    .flatMap((section) => {
      const [title = '', ...lines] = section.split('\n');
      const rows = lines.filter((line) => line.startsWith('|')).slice(2);
      return rows.map((row) => ({ heading: title, cells: cellsOf(row) }));
    });
}

function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1'));
}

it('The errors guide lists the codes of the catalogue (`npm run generate` updates it)', () => {
  const rows = rowsOf('errors', /^Codes/).map(({ cells }) => cells);
  expect(rows).toEqual(errorCatalogue().map(({ status, code, when }) => [code, String(status), when]));
});

it('The deprecation guide lists the deprecated operations, a year or more before their sunset', () => {
  const rows = rowsOf('deprecation', /^Deprecated now/).map(({ cells }) => cells);
  const marked = [...operations] as [string, { 'x-deprecated-sunset'?: string }][];
  const sunsets = marked.map(([name, operation]) => [name, operation['x-deprecated-sunset']]);
  const deprecated = sunsets.filter(([, sunset]) => sunset !== undefined);
  expect(rows.map(([operation, , sunset]) => [operation, sunset]).sort()).toEqual(deprecated.sort());
  for (const [, since, sunset] of rows) {
    const aYearLater = new Date(since!).setUTCFullYear(new Date(since!).getUTCFullYear() + 1);
    expect(new Date(sunset!).getTime()).toBeGreaterThanOrEqual(aYearLater);
  }
});

it.each(['beta', 'experimental'])('The deprecation guide lists the operations that are %s', (stability) => {
  const { cells } = rowsOf('deprecation', /^Stability/).find((row) => row.cells[0] === stability)!;
  const all = [...operations] as [string, { 'x-stability'?: string }][];
  const marked = all.filter(([, operation]) => operation['x-stability'] === stability);
  // The guide names all operations of webhooks together.
  const names = marked.map(([name]) => name.replace(/^\w+ (\/webhooks).*/, '$1'));
  expect(cells[1]!.match(/(?<=`)[^`]*\/[^`]+/g)!.sort()).toEqual([...new Set(names)].sort());
});

it('The changes for callers begin with the version of the document', () => {
  const [version] = /\d+\.\d+\.\d+/.exec(readGuide('changelog').split(/^## /m)[1]!)!;
  expect(version).toBe(document.info.version);
});

it('The limits guide has the current plans', () => {
  const rows = rowsOf('limits', /^Limits/).map(({ cells: [plan, ...limits] }) => {
    return [plan, ...limits.map((limit) => Number(limit.replace(',', '')) || null)];
  });
  expect(rows).toEqual(
    PLANS.map((plan) => {
      const { perMinute = null, perDay = null } = PLAN_LIMITS[plan] ?? {};
      return [plan, perMinute, perDay];
    }),
  );
});

it('The events guide lists every type', () => {
  const [table] = /^\| Type[^]*?\n\n/m.exec(readGuide('events'))!;
  expect(table.match(/\w+\.\w+/g)).toEqual([...EVENT_TYPES]);
});

it('Every guide is served, and listed in the index in reading order', () => {
  const files = filesOf('docs/guides', '.md');
  expect(files.sort()).toEqual(GUIDES.map((name) => `docs/guides/${name}.md`).sort());
  const listed = rowsOf('README', /^Guides/).map(({ cells }) => /\((.+)\.md\)$/.exec(cells[0]!)?.[1]);
  expect(['README', ...listed]).toEqual([...GUIDES]);
});

it.each([
  ['.env.example', /^(?:# )?([A-Z][A-Z_]+)=/gm],
  ['docs/operations/running.md', /^\| `([A-Z][A-Z_]+)` +\|/gm],
])('%s lists every setting, and no other', (file, line) => {
  const listed = [...read(file).matchAll(line)].map(([, name]) => name);
  expect(listed.toSorted()).toEqual([...settingNames()].toSorted());
});
