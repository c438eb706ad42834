import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const SOURCES = ['src', 'libs', '.swcrc'];

/**
 * The package as npm installs it, compiled from the sources as they are now, for tests that run real processes. One for
 * each worker of the test run, so that neither another worker nor somebody's build can change it under a running test.
 * @returns its folder
 */
export function installation(): string {
  const folder = join(process.env.TEST_INSTALLATIONS!, `worker-${process.env.JEST_WORKER_ID ?? 0}`);
  if (!existsSync(folder)) {
    mkdirSync(folder);
    for (const name of ['bin', 'docs', 'package.json', ...SOURCES]) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    execFileSync(process.execPath, [join(folder, 'bin', 'build.js')]);
    SOURCES.forEach((name) => rmSync(join(folder, name), { recursive: true }));
  }
  return folder;
}
