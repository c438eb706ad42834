import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformFileSync } from '@swc/core';

const ROOT = join(__dirname, '../..');

/** Jest cannot do with real dynamic imports, but the program is built with them, and they see a CommonJS package differently. */
const AS_BUILT = { type: 'commonjs', ignoreDynamic: true, exportInteropAnnotation: true } as const;

/**
 * The package as npm installs it, compiled from the sources as they are now, for tests that run real processes. One for
 * each worker of the test run, so that neither another worker nor somebody's build can change it under a running test.
 * @returns its folder
 */
export function installation(): string {
  const folder = join(process.env.TEST_INSTALLATIONS!, `worker-${process.env.JEST_WORKER_ID ?? 0}`);
  const mark = join(folder, 'dist', '.built');
  if (!existsSync(mark)) {
    mkdirSync(folder, { recursive: true });
    for (const name of ['bin', 'docs', 'package.json']) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const name of ['src', 'libs']) {
      compile(name, join(folder, 'dist'));
    }
    execFileSync(process.execPath, [join(folder, 'bin', 'bundle.js')]);
    writeFileSync(mark, '');
  }
  return folder;
}

function compile(folder: string, target: string): void {
  for (const name of readdirSync(join(ROOT, folder), { recursive: true }) as string[]) {
    if (name.endsWith('.ts') && !name.endsWith('.d.ts')) {
      const { code } = transformFileSync(join(ROOT, folder, name), { cwd: ROOT, module: AS_BUILT });
      const file = join(target, folder, name.replace(/\.ts$/, '.js'));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, code);
    } else if (/\.(css|js)$/.test(name)) {
      cpSync(join(ROOT, folder, name), join(target, folder, name));
    }
  }
}
