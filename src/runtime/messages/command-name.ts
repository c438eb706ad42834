import { basename, relative } from 'node:path';

/** The command line's name in hints: as it was called, so that the hints work in the same place. */
export const PETSTORE = commandName(process.argv[1] ?? '', process.env.npm_command);

/**
 * @param script the script that Node was started with
 * @param npmCommand npm's current command if npm has started Node; for npx it is "exec"
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
