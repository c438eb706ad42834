// Installs the SDK's package as its users would, and compiles a program against it with TypeScript 5 and 6: `npm run test:client`.
// Needs the npm registry.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'petstore-client-matrix-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const run = (program, ...args) => execFileSync(program, args, { cwd: folder, encoding: 'utf8' });
execFileSync('npm', ['run', '--silent', 'client:build'], { cwd: ROOT });
const tarball = run('npm', 'pack', '--silent', join(ROOT, 'dist/client')).trim().split('\n').at(-1);

writeFileSync(join(folder, 'package.json'), '{ "private": true }');
writeFileSync(
  join(folder, 'use.mts'),
  `import { PetStoreError, createPetStoreClient } from '@petstore/client';
   const store = createPetStoreClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'psk_live_none', maxAttempts: 1 });
   store.getPet({ path: { petId: 1 } }).catch((error) => error instanceof PetStoreError && console.log(error.code));`,
);

for (const major of ['5', '6']) {
  const packages = [join(folder, tarball), `typescript@${major}`, '@types/node@20'];
  run('npm', 'install', '--silent', '--no-audit', '--no-fund', ...packages);
  const tsc = join(folder, 'node_modules/typescript/bin/tsc');
  for (const module of [['nodenext'], ['esnext', '--moduleResolution', 'bundler']]) {
    const options = '--strict --target es2022 --types node --skipLibCheck false'.split(' ');
    run(process.execPath, tsc, ...options, '--module', ...module, 'use.mts');
    console.log(`${run(process.execPath, tsc, '--version').trim()}, module ${module[0]}: compiled`);
  }
}
