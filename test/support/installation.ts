import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, symlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { files } from '../../package.json';

const ROOT = join(__dirname, '../..');
const SOURCES = ['src', 'libs', '.swcrc', 'nest-cli.json', 'tsconfig.json'];

/** The folder of the package as npm installs it, for tests that run real processes. */
export function installation(): string {
  return process.env.TEST_INSTALLATION!;
}

/** Loads a compiled module of the installation, where Jest does not compile the sources. */
export function installed<Exports>(name: string): Exports {
  return require(join(installation(), 'dist', name)) as Exports;
}

/** The published files that the repository has. The build makes all others. */
const PUBLISHED = files.filter((name) => !/^(!|dist$)/.test(name));

/** Builds the package in a temporary folder, so that no other build changes it while tests run. */
export async function install(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-installed-'));
  for (const name of [...PUBLISHED, 'package.json', ...SOURCES]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const run = (cwd: string, script: string[]) =>
    execFileSync(process.execPath, script, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  // As `npm run build` does.
  run(folder, ['node_modules/@nestjs/cli/bin/nest.js', 'build']);
  run(folder, ['bin/bundle.js']);
  // Services that tests run from the sources read these files from the checkout. The script replaces each file atomically, because
  // `npm run dev` may be serving it.
  run(ROOT, ['bin/browser-files.js']);
  cpSync(join(ROOT, 'dist/browser'), join(folder, 'dist/browser'), { recursive: true });
  SOURCES.forEach((name) => rmSync(join(folder, name), { recursive: true }));
  process.env.TEST_INSTALLATION = folder;
}
