import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cleanEnvironment } from '../../support/command-line';
import { ROOT } from '../../support/files';
import { ServiceBench } from '../../support/service-process';

const SOURCES = ['bin', 'libs', 'src', 'package.json', '.swcrc', 'nest-cli.json', 'tsconfig.json'];

const bench = new ServiceBench();
const checkout = bench.folder('checkout');

beforeAll(() => {
  for (const name of SOURCES) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
});
afterAll(() => bench.clear());

/** From another working directory than the checkout's. */
function petstore(...args: string[]) {
  const options = { cwd: '/', env: cleanEnvironment({}) };
  return promisify(execFile)(process.execPath, [join(checkout, 'bin/petstore.js'), ...args], options);
}

it('a checkout builds itself at the first command and only then, once for two at a time, also if an earlier build was killed; what does not compile ends in one line', async () => {
  // What a build that was killed leaves.
  mkdirSync(join(checkout, 'dist'));
  writeFileSync(join(checkout, 'dist/.building'), String(spawnSync('true').pid));
  const both = await Promise.all([petstore('--version'), petstore('--version')]);
  expect(both.map(({ stdout }) => stdout)).toEqual(['1.0.0\n', '1.0.0\n']);
  expect(both.filter(({ stderr }) => stderr.includes('petstore: building'))).toHaveLength(1);
  expect(existsSync(join(checkout, 'dist/.building'))).toBe(false);

  const { mtimeMs } = statSync(join(checkout, 'dist/src/cli/petstore.js.compiled'));
  const later = await petstore('openapi');
  expect(JSON.parse(later.stdout)).toMatchObject({ openapi: '3.0.3' });
  expect(later.stderr).toBe('');
  expect(statSync(join(checkout, 'dist/src/cli/petstore.js.compiled')).mtimeMs).toBe(mtimeMs);

  writeFileSync(join(checkout, 'src/runtime/broken.ts'), 'export const broken = ;\n');
  await expect(petstore('--version')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('petstore: the build failed; run npm ci') as string,
  });
});
