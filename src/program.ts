import { basename, relative } from 'node:path';
import { shellWord } from '#libs/messages';

export const VERSION = '1.0.0';

/** The program as the operator has called it, for example `npx petstore`, so that hints can be copied. */
export const PETSTORE = commandName(process.argv[1] ?? '', process.env.npm_command);

function commandName(script: string, npmCommand: string | undefined): string {
  if (basename(script) === 'petstore' && npmCommand === undefined) {
    return 'petstore';
  }
  if (basename(script) !== 'petstore.js' || npmCommand !== undefined) {
    return 'npx petstore';
  }
  const path = relative(process.cwd(), script);
  return `node ${shellWord(path.startsWith('..') ? script : path)}`;
}
