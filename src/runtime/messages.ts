import { basename, relative } from 'node:path';

/** The version of the service, which package.json repeats; a test compares them. */
export const VERSION = '1.0.0';

/** The command line's name in hints: as it was called, so that the hints work in the same place. */
export const PETSTORE = commandName(process.argv[1] ?? '', process.env.npm_command);

/** @param npmCommand npm's current command if npm has started Node; for npx it is "exec" */
function commandName(script: string, npmCommand: string | undefined, folder = process.cwd()): string {
  if (basename(script) === 'petstore' && npmCommand === undefined) {
    return 'petstore';
  }
  if (basename(script) !== 'petstore.js' || npmCommand !== undefined) {
    return 'npx petstore';
  }
  const path = relative(folder, script);
  return `node ${path.startsWith('..') ? script : path}`;
}

/** A failure as one line for standard error, without control characters. */
export function formatError(message: string): string {
  return `petstore: ${printable(withoutSecrets(message))}\n`;
}

/** Hides keys and the passwords of URLs: a message may repeat an argument, and logs keep messages. */
export function withoutSecrets(message: string): string {
  return (
    message
      // The last four characters identify the key.
      .replace(/psk_live_\w*(\w{4})/g, 'psk_live_…$1')
      .replace(/(:\/\/[^\s:@/?#]*:)[^\s/]*@/g, '$1…@')
      .replace(/([?&]password=)[^&\s"']*/g, '$1…')
  );
}

/** Control characters, line breaks, and marks that change the direction of a whole line. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Escapes characters that a terminal would interpret or that would break a table: a name may contain anything. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** JSON, on one line unless it is indented. Also escapes what JSON allows unescaped but a terminal would interpret. */
export function printableJson(value: unknown, indentation = 0): string {
  const lines = JSON.stringify(value, null, indentation).split('\n');
  return lines.map(printable).join('\n');
}
