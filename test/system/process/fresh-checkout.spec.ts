import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cleanEnvironment } from '../../support/command-line';
import { ServiceBench } from '../../support/service-process';

const ROOT = join(__dirname, '../../..');
const SOURCES = ['bin', 'libs', 'src', 'package.json', '.swcrc', 'nest-cli.json', 'tsconfig.json'];

const bench = new ServiceBench();
const checkout = bench.path('checkout');
const bundle = join(checkout, 'dist/src/cli/petstore.js.compiled');

beforeAll(() => {
  for (const name of SOURCES) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
});

beforeEach(() => rmSync(join(checkout, 'dist'), { recursive: true, force: true }));

afterAll(() => bench.clear());

/** From another working directory than the checkout's. */
function petstore(...args: string[]) {
  const options = { cwd: '/', env: cleanEnvironment({}) };
  return promisify(execFile)(process.execPath, [join(checkout, 'bin/petstore.js'), ...args], options);
}

it('builds itself at the first command, in any working directory, and only then', async () => {
  const first = await petstore('--version');
  expect(first.stdout).toBe('1.0.0\n');
  expect(first.stderr).toContain('petstore: building');
  const { mtimeMs } = statSync(bundle);
  const second = await petstore('openapi');
  expect(JSON.parse(second.stdout)).toMatchObject({ openapi: '3.0.3' });
  expect(second.stderr).toBe('');
  expect(statSync(bundle).mtimeMs).toBe(mtimeMs);
});

it('is built by one of two commands at once, also if an earlier build was killed', async () => {
  mkdirSync(join(checkout, 'dist'));
  const { pid } = await new Promise<{ pid: number }>((resolve) => {
    const ended = execFile('true', () => resolve({ pid: ended.pid! }));
  });
  writeFileSync(join(checkout, 'dist/.building'), String(pid));
  const both = await Promise.all([petstore('--version'), petstore('--version')]);
  expect(both.map(({ stdout }) => stdout)).toEqual(['1.0.0\n', '1.0.0\n']);
  expect(both.filter(({ stderr }) => stderr.includes('building'))).toHaveLength(1);
  expect(existsSync(join(checkout, 'dist/.building'))).toBe(false);
});

it('a source that does not compile ends in one line each time, until it does', async () => {
  const broken = join(checkout, 'src/runtime/broken.ts');
  writeFileSync(broken, 'export const broken = ;\n');
  for (const _time of ['first', 'again']) {
    await expect(petstore('--version')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('petstore: the build failed; run npm ci') as string,
    });
  }
  rmSync(broken);
  expect((await petstore('--version')).stdout).toBe('1.0.0\n');
});
