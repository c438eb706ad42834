import { basename, relative } from 'node:path';
import { shellWord } from '#libs/messages';

export const VERSION = '1.0.0';

/** The version of the OpenAPI document. A test compares this version with the changelog for callers. */
export const API_VERSION = '1.0.0';

/**
 * How the operator calls this program, for example `npx petstore`. Messages that recommend a command begin the command
 * with this text, so that the operator can copy and run the command.
 */
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
