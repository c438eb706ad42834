import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fastify from 'fastify';
import { servePages } from '../../../src/http/document/serve-document';
import { readGuides } from '../../../src/http/document/guides';
import packageJson from '../../../package.json';
import { installation } from '../../support/installation';

let failures = 0;
jest.mock('../../../src/http/document/guides', () => {
  const actual = jest.requireActual<{ readGuides: typeof readGuides }>('../../../src/http/document/guides');
  return {
    ...actual,
    readGuides: jest.fn(() => (failures-- > 0 ? Promise.reject(new Error('EMFILE')) : actual.readGuides())),
  };
});

test('Guides are rendered on demand, once, and again only after a failure', async () => {
  failures = 1;
  const app = fastify();
  servePages(app, { openapi: '3.0.3', info: { title: '', version: '' }, paths: {}, tags: [] });
  expect(readGuides).toHaveBeenCalledTimes(0);
  expect((await app.inject('/docs/guides')).statusCode).toBe(500);
  const answers = await Promise.all(['/docs/guides', '/docs/guides/errors'].map((path) => app.inject(path)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  expect((await app.inject('/docs/guides/limits')).statusCode).toBe(200);
  expect(readGuides).toHaveBeenCalledTimes(2);
  await app.close();
});

test('An installed package contains the guides and finds them', async () => {
  expect(packageJson.files).toContain('docs');
  const compiled = join(installation(), 'dist/src/http/document/guides.js');
  const script = `require(${JSON.stringify(compiled)}).readGuides().then((guides) => console.log(guides.length))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { cwd: '/' });
  expect(Number(stdout)).toBeGreaterThan(5);
});
