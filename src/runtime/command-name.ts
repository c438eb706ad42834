import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NPX = ['npx', 'npx.cmd'];

/** How hints call the command line. The image has no npx, but has `petstore` on its path. */
export const PETSTORE = isOnPath(NPX) ? 'npx petstore' : 'petstore';

function isOnPath(names: string[]): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.some((folder) => names.some((name) => existsSync(join(folder, name))));
}
