// Rows as lines of text: a table that fits the terminal, or record by record where no table can.

import { styleText } from 'node:util';
import type { Terminal } from '#libs/terminal';
import { pad, printable, widthOf, wrap } from '../runtime/text';
import { relativeTime } from './relative-time';

export type Row = Record<string, unknown>;

/** What the lines are laid out for. */
export interface Look extends Terminal {
  /** Unix milliseconds, where times are to be told from now; exact without it. */
  now?: number;
}

interface Column {
  name: string;
  texts: string[];
  /** All its values are numbers: aligned right, and never broken, for half a number is another number. */
  numeric: boolean;
  width: number;
}

const GAP = '  ';
/** A column of text is not made narrower than this: it still shows the day of a time. */
const NARROWEST = 11;

/** A line for each field of one thing. */
export function recordLines(row: Row, look: Look): string[] {
  const nameWidth = Math.max(...Object.keys(row).map(widthOf));
  return Object.entries(row).map(([name, value]) => {
    const exact = cell(value);
    const relative = look.now === undefined ? undefined : relativeTime(exact, look.now);
    const text = relative === undefined ? exact : `${exact} (${relative})`;
    const label = pad(name, nameWidth, false);
    return look.colours ? `${bold(label)}${GAP}${coloured(text, name, text)}` : `${label}${GAP}${text}`;
  });
}

/** The lines of a table of at least one row; the first row names the columns. What is too wide for its column goes on below. */
export function tableLines(rows: Row[], look: Look): string[] {
  const columns = Object.keys(rows[0]!).map((name) => columnOf(name, rows, look.now));
  if (look.columns !== undefined && !fit(columns, look.columns)) {
    return rows.flatMap((row, index) => [...(index === 0 ? [] : ['']), ...recordLines(row, look)]);
  }
  const header = columns.map(({ name, width, numeric }) => {
    return wrap(name, width).map((part) => (look.colours ? bold(pad(part, width, numeric)) : part));
  });
  const lines = rows.map((_row, index) => columns.map((column) => partsOf(column, index, look)));
  return [header, ...lines].flatMap((line) => joined(line, columns));
}

/** Sets what belongs to one row side by side, in as many lines as its longest cell takes. */
function joined(cells: string[][], columns: Column[]): string[] {
  const height = Math.max(...cells.map((parts) => parts.length));
  return Array.from({ length: height }, (_none, line) => {
    const texts = columns.map(({ width, numeric }, index) => pad(cells[index]![line] ?? '', width, numeric));
    return texts.join(GAP).trimEnd();
  });
}

function columnOf(name: string, rows: Row[], now: number | undefined): Column {
  const values = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
  const exact = rows.map((row) => cell(row[name]));
  const texts = now === undefined ? exact : exact.map((text) => relativeTime(text, now) ?? text);
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

function partsOf({ name, texts, numeric, width }: Column, index: number, { colours }: Look): string[] {
  const text = texts[index]!;
  return wrap(text, width).map((part) => (colours ? coloured(pad(part, width, numeric), name, text) : part));
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
