/**
 * Hides API keys that contain `sk_live_`, with any letters before, and the passwords of URLs. A message may repeat an
 * argument that contains such a secret, and logs of messages are kept. A password is also hidden if it contains a `/`, which
 * is not allowed in a URL, but happens.
 */
export function withoutSecrets(message: string): string {
  return message
    .replace(/(sk_live_)\w*(\w{4})/g, '$1…$2')
    .replace(/(:\/\/[^\s:@/?#]*:)(?!\d+[/?#])\S*@/g, '$1…@')
    .replace(/([?&]password=)[^&\s"']*/g, '$1…');
}

const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Escapes characters that a terminal would interpret or that would break a table, because a name in the output may
 * contain any character.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Formats a value as JSON. Escapes characters that JSON allows but that a terminal would interpret. */
export function printableJson(value: unknown, indentation = 0): string {
  const lines = JSON.stringify(value, null, indentation).split('\n');
  return lines.map(printable).join('\n');
}

export const PLAIN_PATH = 'a plain path (only a shell expands ~ and $)';

export function isPlainPath(path: string): boolean {
  return !/^[~$]/.test(path);
}

/** Quotes a text for a POSIX shell, which then reads the text as one word. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const MAX_EDIT_DISTANCE = 2;

/**
 * Returns ` Did you mean …?` with the known word that is most similar to `word`, or an empty text if no known word is
 * similar.
 */
export function suggestionFor(word: string, known: readonly string[]): string {
  const most = Math.min(MAX_EDIT_DISTANCE, word.length / 2);
  const [nearest] = known
    .filter((one) => Math.abs(one.length - word.length) <= most)
    .map((one) => ({ one, mistakes: levenshteinDistance(word.toLowerCase(), one.toLowerCase()) }))
    .filter(({ mistakes }) => mistakes <= most)
    .sort((first, second) => first.mistakes - second.mistakes);
  return nearest ? ` Did you mean ${nearest.one}?` : '';
}

function levenshteinDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_cell, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = row[column]! + (letter === to[column] ? 0 : 1);
      next.push(Math.min(next[column]! + 1, row[column + 1]! + 1, replaced));
    }
    row = next;
  }
  return row.at(-1)!;
}
