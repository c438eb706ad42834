// Text on a terminal: its width in columns, and line breaks.

/** Two columns wide: the wide and fullwidth blocks of Unicode's UAX #11, and emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18aff}\u{1b000}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]|\ufe0f/u;

/** No width: combining marks, joiners and formatting characters. */
const ZERO = /^[\p{M}\p{Cf}]+$/u;

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** How many columns of a terminal a printable text takes. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) {
    return text.length;
  }
  let width = 0;
  for (const { segment } of characters.segment(text)) {
    width += widthOfCharacter(segment);
  }
  return width;
}

function widthOfCharacter(character: string): number {
  if (ZERO.test(character)) {
    return 0;
  }
  return WIDE.test(character) ? 2 : 1;
}

/** Wraps the text to this many columns, at a space unless that leaves a line half empty. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (widthOf(rest) > columns) {
    const most = beginningOf(rest, columns);
    const space = rest[most.length] === ' ' ? most.length : most.lastIndexOf(' ');
    const line = space > most.length / 2 ? rest.slice(0, space) : most;
    lines.push(line);
    rest = rest.slice(line.length).replace(/^ /, '');
  }
  return rest === '' && lines.length > 0 ? lines : [...lines, rest];
}

/** As much of the beginning as fits, but at least one character. */
function beginningOf(text: string, columns: number): string {
  let kept = '';
  let left = columns;
  for (const { segment } of characters.segment(text)) {
    left -= widthOfCharacter(segment);
    if (left < 0 && kept !== '') {
      break;
    }
    kept += segment;
  }
  return kept;
}

/** Pads with spaces, on the left for right-aligned text. */
export function pad(text: string, columns: number, right: boolean): string {
  const spaces = ' '.repeat(Math.max(0, columns - widthOf(text)));
  return right ? `${spaces}${text}` : `${text}${spaces}`;
}
