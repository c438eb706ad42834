// Rows as lines of text: a table that fits the terminal, or record by record where no table can.

import { styleText } from 'node:util';
import type { Terminal } from '#libs/terminal';
import { cut, pad, printable, widthOf } from '../runtime/text';

export type Row = Record<string, unknown>;

interface Column {
  name: string;
  texts: string[];
  /** All its values are numbers: aligned right, and never cut, for half a number is another number. */
  numeric: boolean;
  width: number;
}

const GAP = '  ';
/** A column of text is not cut below this: it still shows the day of a time. */
const NARROWEST = 11;

/** A line for each field of one thing. */
export function recordLines(row: Row, terminal: Terminal): string[] {
  const nameWidth = Math.max(...Object.keys(row).map(widthOf));
  return Object.entries(row).map(([name, value]) => {
    const text = cell(value);
    const label = pad(name, nameWidth, false);
    return terminal.colours ? `${bold(label)}${GAP}${coloured(text, name, text)}` : `${label}${GAP}${text}`;
  });
}

/** The lines of a table of at least one row; the first row names the columns. */
export function tableLines(rows: Row[], terminal: Terminal): string[] {
  const columns = Object.keys(rows[0]!).map((name) => columnOf(name, rows));
  if (terminal.columns !== undefined && !fit(columns, terminal.columns)) {
    return rows.flatMap((row, index) => [...(index === 0 ? [] : ['']), ...recordLines(row, terminal)]);
  }
  const header = columns.map((column) => {
    const name = pad(cut(column.name, column.width), column.width, column.numeric);
    return terminal.colours ? bold(name) : name;
  });
  const lines = rows.map((_row, index) => columns.map((column) => cellIn(column, index, terminal)));
  return [header, ...lines].map((line) => line.join(GAP).trimEnd());
}

function columnOf(name: string, rows: Row[]): Column {
  const values = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
  const texts = rows.map((row) => cell(row[name]));
  return {
    name,
    texts,
    numeric: values.length > 0 && values.every((value) => typeof value === 'number'),
    width: Math.max(widthOf(name), ...texts.map(widthOf)),
  };
}

/** Narrows the columns, the widest first, until they fit; false when they cannot. */
function fit(columns: Column[], available: number): boolean {
  let excess = columns.reduce((sum, { width }) => sum + width, GAP.length * (columns.length - 1)) - available;
  for (; excess > 0; excess -= 1) {
    const widest = columns
      .filter(({ numeric, width }) => !numeric && width > NARROWEST)
      .reduce<Column | null>(
        (found, column) => (found && found.width >= column.width ? found : column),
        null,
      );
    if (widest === null) {
      return false;
    }
    widest.width -= 1;
  }
  return true;
}

function cellIn({ name, texts, numeric, width }: Column, index: number, { colours }: Terminal): string {
  const text = texts[index]!;
  const padded = pad(cut(text, width), width, numeric);
  return colours ? coloured(padded, name, text) : padded;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) {
    return '-';
  }
  return printable(Array.isArray(value) ? value.join(',') : String(value as string | number | boolean));
}

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
function coloured(padded: string, column: string, text: string): string {
  if (text === '-') {
    return style('dim', padded);
  }
  const colour = column === 'state' ? COLOUR_OF_STATE[text] : undefined;
  return colour ? style(colour, padded) : padded;
}

function bold(text: string): string {
  return style('bold', text);
}

/** Whether there are to be colours is decided before: Node 20 does not ask the stream, and newer ones ask for more. */
function style(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { validateStream: false });
}
