import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../../support/files';

export interface Violation {
  rule: string;
  from: string;
  to: string;
}

/** Runs dependency-cruiser over the sources below this directory, as a program: it is an ES module, which jest does not load. */
export function cruise(directory: string): Violation[] {
  const program = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const json = readOutput(program, directory);
  const { summary } = JSON.parse(json) as {
    summary: { totalCruised: number; violations: { from: string; to: string; rule: { name: string } }[] };
  };
  if (summary.totalCruised < 100) {
    throw new Error(`Only ${summary.totalCruised} files were looked at.`);
  }
  return summary.violations.map(({ from, to, rule }) => ({ rule: rule.name, from, to }));
}

function readOutput(program: string, directory: string): string {
  // A copy's packages are a link, and known by where the link is.
  const options = ['--config', '.dependency-cruiser.cjs', '--preserve-symlinks', '--output-type', 'json'];
  return execFileSync(process.execPath, [program, ...options, 'src', 'libs'], {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** A copy of the sources, in which a test may plant what it likes. */
export class Sources {
  readonly directory = mkdtempSync(join(tmpdir(), 'petstore-sources-'));

  constructor() {
    const resolver = 'test/support/resolve-sources.cjs';
    for (const path of [
      'src',
      'libs',
      'package.json',
      'tsconfig.json',
      '.dependency-cruiser.cjs',
      resolver,
    ]) {
      cpSync(join(ROOT, path), join(this.directory, path), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(this.directory, 'node_modules'), 'dir');
  }

  /** Adds this line to the file, which need not be there yet. */
  plant(file: string, line: string): void {
    writeFileSync(join(this.directory, file), `${line}\n`, { flag: 'a' });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
