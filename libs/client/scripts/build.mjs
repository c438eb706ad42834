// Builds the package for `npm pack` and `npm publish` in the given folder, by default dist/client.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const client = resolve(import.meta.dirname, '..');
const root = resolve(client, '../..');
const target = resolve(process.argv[2] ?? join(root, 'dist/client'));
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');

rmSync(target, { recursive: true, force: true });
compile('cjs', '--module', 'nodenext');
compile('esm', '--module', 'esnext', '--moduleResolution', 'bundler');
writeFileSync(join(target, 'esm/package.json'), '{ "type": "module" }\n');

// Only the built package can be published, not its sources.
const { private: _private, ...manifest } = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8'));
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(join(client, 'README.md'), join(target, 'README.md'));
copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'));

function compile(folder, ...options) {
  const outDir = join(target, folder);
  mkdirSync(outDir, { recursive: true });
  const { status } = spawnSync(
    process.execPath,
    [compiler, '--project', join(client, 'tsconfig.json'), '--outDir', outDir, ...options],
    { stdio: 'inherit' },
  );
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}
