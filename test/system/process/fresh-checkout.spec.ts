import { execFile } from 'node:child_process';
import { cpSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cleanEnvironment } from '../../support/command-line';
import { ServiceBench } from '../../support/service-process';

const ROOT = join(__dirname, '../../..');
const SOURCES = [
  'bin',
  'libs',
  'src',
  'nest-cli.json',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

const bench = new ServiceBench();
const checkout = bench.path('checkout');

beforeAll(() => {
  for (const name of SOURCES) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
});

afterAll(() => bench.clear());

/** From another working directory than the checkout's. */
function run(...args: string[]) {
  const options = { cwd: '/', env: cleanEnvironment({}) };
  return promisify(execFile)(process.execPath, [join(checkout, 'bin/petstore.js'), ...args], options);
}

describe('a fresh checkout', () => {
  it('builds itself at the first command, in any working directory, and only then', async () => {
    const first = await run('--version');
    expect(first.stdout).toBe('1.0.0\n');
    expect(first.stderr).toContain('petstore: building');
    const mark = join(checkout, 'dist/.built');
    const built = statSync(mark).mtimeMs;
    const second = await run('openapi');
    expect(JSON.parse(second.stdout)).toMatchObject({ openapi: '3.0.3' });
    expect(second.stderr).toBe('');
    expect(statSync(mark).mtimeMs).toBe(built);
  });
});
