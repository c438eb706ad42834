// The examples of the libraries' READMEs, run as they are written there. `test/system/libs/client` runs those of the SDK.
import { readdirSync } from 'node:fs';
import { format } from 'node:util';
import { transformSync } from '@swc/core';
import { ROOT, read, readJson, useFolder } from '../../support/files';
import { blocksOf } from '../../support/guides';
import { Output } from '../../support/output';
import { useDatabase } from '../../support/test-database';

const LIBRARIES = readdirSync(`${ROOT}/libs`).filter((name) => name !== 'client');

const folder = useFolder();
const database = useDatabase('template0');
const before = process.cwd();
beforeAll(() => process.chdir(folder));
afterAll(() => process.chdir(before));
afterEach(() => jest.restoreAllMocks());

/** Runs a program as Node would if it were compiled. @returns what it prints */
async function run(source: string, args: string[]): Promise<string> {
  const { code } = transformSync(source, {
    ...readJson<object>('.swcrc'),
    sourceMaps: false,
    isModule: true,
  });
  const output = new Output();
  jest.spyOn(process, 'stdout', 'get').mockReturnValue(output as unknown as NodeJS.WriteStream & { fd: 1 });
  jest.replaceProperty(process, 'argv', ['node', 'example.js', ...args]);
  jest.replaceProperty(process, 'env', { ...process.env, DATABASE_URL: database.url });
  const AsyncFunction = run.constructor as new (...texts: string[]) => (...given: unknown[]) => Promise<void>;
  const log = (...values: unknown[]) => output.write(`${format(...values)}\n`);
  await new AsyncFunction('require', 'exports', 'console', code)(require, {}, { log });
  return output.text;
}

it.each(LIBRARIES)('The example of libs/%s prints what its README shows', async (name) => {
  const blocks = blocksOf(read(`libs/${name}/README.md`));
  const program = blocks.find(({ language }) => language === 'ts')!;
  const session = blocks.find(({ language }) => language === 'console')!;
  const [, command, printed] = /^\$ node example\.js ?([^\n]*)\n([^]*)$/.exec(session.text)!;
  expect(await run(program.text, command!.split(' ').filter(Boolean))).toBe(printed);
});

it.each(LIBRARIES)('libs/%s speaks of no domain', (name) => {
  const files = readdirSync(`${ROOT}/libs/${name}`, { recursive: true, encoding: 'utf8' });
  const texts = files.filter((file) => /\.(ts|md)$/.test(file)).map((file) => read(`libs/${name}/${file}`));
  expect(texts.length).toBeGreaterThan(1);
  expect(
    texts.flatMap(
      (text) => text.match(/pet ?stores?\b|\bpets?\b|\bcategor(?:y|ies)\b|psk_|webhooks?\b/gi) ?? [],
    ),
  ).toEqual([]);
});
