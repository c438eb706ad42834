import { basename, relative } from 'node:path';

/** How hints call the command line: as it was called itself, so that they work where it did. */
export const PETSTORE = commandName(process.argv[1] ?? '', process.env.npm_command);

/**
 * @param script what Node was started with
 * @param npmCommand what npm says that it does, where it has started Node; npx is "exec"
 */
export function commandName(script: string, npmCommand: string | undefined, folder = process.cwd()): string {
  if (basename(script) === 'petstore' && npmCommand === undefined) {
    return 'petstore';
  }
  if (basename(script) !== 'petstore.js' || npmCommand !== undefined) {
    return 'npx petstore';
  }
  const path = relative(folder, script);
  return `node ${path.startsWith('..') ? script : path}`;
}
