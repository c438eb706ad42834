import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * The newest Node of this major version: the one at hand, or the binary of an npm package, which has nothing else in it.
 * @param folder where it is put
 */
export function nodeOf(major, folder) {
  if (process.versions.node.startsWith(`${major}.`)) {
    return process.execPath;
  }
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}@${major}`;
  const packed = execFileSync('npm', ['pack', '--silent', name], { cwd: folder, encoding: 'utf8' });
  execFileSync('tar', ['-xzf', packed.trim().split('\n').at(-1), '--one-top-level=' + major], {
    cwd: folder,
  });
  return join(folder, major, 'package/bin/node');
}
