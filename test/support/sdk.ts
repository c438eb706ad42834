import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, readJson } from './files';

/** Compiles the SDK and installs it in a project, as npm would do with its package. Rejects if the compiler complains. */
export async function installSdk(project: string): Promise<void> {
  const source = join(ROOT, 'libs/client');
  const installed = join(project, 'node_modules/@petstore/client');
  mkdirSync(installed, { recursive: true });
  const { dependencies } = readJson<{ dependencies: object }>('libs/client/package.json');
  for (const name of Object.keys(dependencies)) {
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  }
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const options = ['--project', source, '--outDir', join(installed, 'lib')];
  await promisify(execFile)(process.execPath, [compiler, ...options]);
  copyFileSync(join(source, 'package.json'), join(installed, 'package.json'));
}
