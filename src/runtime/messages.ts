import { basename, relative } from 'node:path';

/** The version of the service, which package.json repeats. A test compares the two. */
export const VERSION = '1.0.0';

/**
 * The command to type, as hints show it, for example `npx petstore`. Hints repeat how the program was called, so that they
 * work when copied.
 */
export const PETSTORE = commandName(process.argv[1] ?? '', process.env.npm_command);

/** @param npmCommand npm's current command if npm has started this process, for example "exec" for npx */
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

export function formatError(message: string): string {
  return `petstore: ${printable(withoutSecrets(message))}\n`;
}

/** Hides API keys and the passwords of URLs: a message may repeat an argument, and logs are kept. */
export function withoutSecrets(message: string): string {
  return message
    .replace(/psk_live_\w*(\w{4})/g, 'psk_live_…$1')
    .replace(/(:\/\/[^\s:@/?#]*:)[^\s/]*@/g, '$1…@')
    .replace(/([?&]password=)[^&\s"']*/g, '$1…');
}

const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Escapes characters that a terminal would interpret or that would break a table: a name may contain any character. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/**
 * Formats a value as JSON, on one line unless an indentation is given. Escapes characters that JSON allows unescaped but
 * that a terminal would interpret.
 */
export function printableJson(value: unknown, indentation = 0): string {
  const lines = JSON.stringify(value, null, indentation).split('\n');
  return lines.map(printable).join('\n');
}
