// What people see on a terminal: tables that fit it, or record by record if none fits.

import { styleText } from 'node:util';
import widthOf from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { type Terminal, printable } from '../../runtime/messages';

export type Row = Record<string, unknown>;

/** Formatting options. */
export interface Look extends Terminal {
  /** Unix milliseconds, for relative times; without it times are absolute. */
  now?: number;
}

interface Column {
  name: string;
  texts: string[];
  /** All values are numbers: right-aligned and never wrapped. */
  numeric: boolean;
  width: number;
}

const GAP = '  ';
/** Minimum width of a text column: enough for a date. */
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

/** Formats a table of at least one row. The first row defines the columns. Wide cells wrap. */
export function tableLines(rows: Row[], look: Look): string[] {
  const columns = columnsOf(rows, look);
  if (look.columns !== undefined && !fit(columns, look.columns)) {
    return rows.flatMap((row, index) => [...(index === 0 ? [] : ['']), ...recordLines(row, look)]);
  }
  const header = columns.map(({ name, width, numeric }) => {
    return wrap(name, width).map((part) => (look.colours ? bold(pad(part, width, numeric)) : part));
  });
  const lines = rows.map((_row, index) => columns.map((column) => partsOf(column, index, look)));
  return [header, ...lines].flatMap((line) => joined(line, columns));
}

/** Joins the cells of a row, in as many lines as its longest cell. */
function joined(cells: string[][], columns: Column[]): string[] {
  const height = Math.max(...cells.map((parts) => parts.length));
  return Array.from({ length: height }, (_none, line) => {
    const texts = columns.map(({ width, numeric }, index) => pad(cells[index]![line] ?? '', width, numeric));
    return texts.join(GAP).trimEnd();
  });
}

/** All columns, or only those with values where all are too wide. */
function columnsOf(rows: Row[], look: Look): Column[] {
  const columns = Object.keys(rows[0]!).map((name) => columnOf(name, rows, look.now));
  return look.columns === undefined || widthOfTable(columns) <= look.columns
    ? columns
    : columns.filter(({ texts }) => texts.some((text) => text !== '-'));
}

function widthOfTable(columns: Column[]): number {
  return columns.reduce((sum, { width }) => sum + width, GAP.length * (columns.length - 1));
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
  let excess = widthOfTable(columns) - available;
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

const COLOUR_OF_STATE: Readonly<Record<string, 'red' | 'yellow' | 'green'>> = {
  banned: 'red',
  revoked: 'red',
  expired: 'yellow',
  pending: 'yellow',
  active: 'green',
  done: 'green',
};

/** Colours a cell by its text. @param padded the text with padding */
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

/** Colours are decided elsewhere, so Node must not check the stream. */
function style(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { validateStream: false });
}

/** Wraps the text to this many columns: at spaces, and within a word only if it is wider than a line. */
function wrap(text: string, columns: number): string[] {
  return wrapAnsi(text, columns, { hard: true }).split('\n');
}

/** Pads with spaces, on the left for right-aligned text. */
function pad(text: string, columns: number, right: boolean): string {
  const spaces = ' '.repeat(Math.max(0, columns - widthOf(text)));
  return right ? `${spaces}${text}` : `${text}${spaces}`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/**
 * `3 h ago`, `in 2 d`.
 * @param now unix milliseconds
 * @returns undefined for anything but an instant in UTC
 */
export function relativeTime(text: string, now: number): string | undefined {
  if (!INSTANT.test(text)) {
    return undefined;
  }
  const difference = Date.parse(text) - now;
  const size = Math.abs(difference);
  const [unit, length] = UNITS.find(([, milliseconds]) => size >= milliseconds) ?? [];
  if (unit === undefined || length === undefined) {
    return 'now';
  }
  const amount = `${Math.floor(size / length).toLocaleString('en-US')} ${unit}`;
  return difference < 0 ? `${amount} ago` : `in ${amount}`;
}
