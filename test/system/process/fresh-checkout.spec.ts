import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cleanEnvironment } from '../../support/command-line';
import { ServiceBench } from '../../support/service-process';

const ROOT = join(__dirname, '../../..');
const SOURCES = ['bin', 'libs', 'src', 'package.json', '.swcrc'];

const bench = new ServiceBench();
const checkout = bench.path('checkout');
const built = join(checkout, 'dist/.built');
const compiled = (name: string) => existsSync(join(checkout, 'dist/src/runtime', name));

beforeAll(() => {
  for (const name of SOURCES) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
});

afterAll(() => bench.clear());

/** From another working directory than the checkout's. */
function run(script: string, ...args: string[]) {
  const options = { cwd: '/', env: cleanEnvironment({}) };
  return promisify(execFile)(process.execPath, [join(checkout, 'bin', script), ...args], options);
}

it('builds itself at the first command, in any working directory, and only then', async () => {
  rmSync(join(checkout, 'dist'), { recursive: true, force: true });
  const first = await run('petstore.js', '--version');
  expect(first.stdout).toBe('1.0.0\n');
  expect(first.stderr).toContain('petstore: building');
  const { mtimeMs } = statSync(built);
  // `npm run generate` truncates it before the program starts that writes it.
  writeFileSync(join(checkout, 'libs/client/src/generated/api.ts'), '');
  const second = await run('petstore.js', 'openapi');
  expect(JSON.parse(second.stdout)).toMatchObject({ openapi: '3.0.3' });
  expect(second.stderr).toBe('');
  expect(statSync(built).mtimeMs).toBe(mtimeMs);
});

it('follows a renamed file and leaves nothing of the old one; a new time with the same content compiles nothing', async () => {
  const added = (name: string) => join(checkout, 'src/runtime', name);
  writeFileSync(added('one.ts'), 'export const one = 1;\n');
  await run('build.js', '--server');
  expect([compiled('one.js'), compiled('two.js')]).toEqual([true, false]);
  renameSync(added('one.ts'), added('two.ts'));
  await run('build.js', '--server');
  expect([compiled('one.js'), compiled('two.js')]).toEqual([false, true]);
  const output = join(checkout, 'dist/src/main.js');
  const [before, builtBefore] = [statSync(output).mtimeMs, statSync(built).mtimeMs];
  utimesSync(join(checkout, 'src/main.ts'), new Date(), new Date());
  await run('build.js', '--server');
  expect(statSync(output).mtimeMs).toBe(before);
  expect(statSync(built).mtimeMs).toBeGreaterThan(builtBefore);
});
