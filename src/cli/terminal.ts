import { styleText } from 'node:util';

/** The states that a command prints, by the colour that they are printed in on a terminal. */
const COLOUR_OF_STATE: Readonly<Record<string, 'red' | 'yellow' | 'green'>> = {
  banned: 'red',
  revoked: 'red',
  expired: 'yellow',
  pending: 'yellow',
  active: 'green',
  done: 'green',
};

/** The text in the colour of what it says; `padded` is the same text with the spaces of its column. */
export function coloured(padded: string, column: string, text: string): string {
  if (text === '-') {
    return style('dim', padded);
  }
  const colour = column === 'state' ? COLOUR_OF_STATE[text] : undefined;
  return colour ? style(colour, padded) : padded;
}

export function bold(text: string): string {
  return style('bold', text);
}

/** Whether there are to be colours is decided before: Node 20 does not ask the stream, and newer ones ask for more. */
function style(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { validateStream: false });
}
