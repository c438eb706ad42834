/** Hides API keys of the form `sk_live_…`, and the passwords of URLs: a message may repeat an argument, and logs are kept. */
export function withoutSecrets(message: string): string {
  return message
    .replace(/(sk_live_)\w*(\w{4})/g, '$1…$2')
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

export const WRITTEN_OUT = 'a path that is written out: only a shell knows ~ and $';

export function isWrittenOut(path: string): boolean {
  return !/^[~$]/.test(path);
}

/** Quotes a text so that the text is one word of a shell's command line (POSIX). */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
