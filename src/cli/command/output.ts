// What commands print: tables for people, JSON and CSV for programs.
import { styleText } from 'node:util';
import widthOf from 'string-width';
import { PETSTORE, printable, printableJson } from '../../runtime/messages';
import { CommandFailure } from './failure';
import { OutputFailure, writeOutput } from './files';

export type Row = Record<string, unknown>;

export const FORMATS = ['table', 'json', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** Options of every command with output. */
export interface OutputOptions {
  output?: Format;
  /** Short for `output: 'json'`. */
  json?: boolean;
}

export function formatOf({ output, json }: OutputOptions): Format {
  return output ?? (json ? 'json' : 'table');
}

/** True if the output is for people: tables and explanations. */
export function isForPeople(options: OutputOptions): boolean {
  return formatOf(options) === 'table';
}

/** Prints one record: in the given format, or one line per field. */
export function printOne(row: Row, options: OutputOptions): void {
  if (isForPeople(options)) {
    recordLines(row).forEach(print);
  } else {
    printForPrograms(row, options);
  }
}

/** Prints what was done: a sentence for people, a record for programs. */
export function printDone(sentence: string, row: Row, options: OutputOptions): void {
  if (isForPeople(options)) {
    print(printable(sentence));
  } else {
    printForPrograms(row, options);
  }
}

/** Prints a list: in the given format, or as a table. */
export function printMany(rows: Row[], options: OutputOptions, whenEmpty: string): void {
  if (!isForPeople(options)) {
    printForPrograms(rows, options);
  } else if (rows.length === 0) {
    print(printable(whenEmpty));
  } else {
    // A pipe has no width, and a terminal of unknown width reports 0.
    print(tableLines(rows, process.stdout.columns || Infinity).join('\n'));
  }
}

/** Prints a new key. This is the only chance, so on failure it says how to revoke the key. */
export function printKey(row: Row & { id: number; key: string }, options: OutputOptions): void {
  try {
    printOne(row, options);
    if (isForPeople(options)) {
      print('\nThis is the only time the key is shown. Send it as X-API-Key: <key>');
    }
  } catch (error) {
    throw error instanceof OutputFailure
      ? new CommandFailure(
          `${error.message} Key ${row.id} was issued but could not be shown. Revoke it: ${PETSTORE} keys revoke ${row.id}`,
        )
      : error;
  }
}

export function print(line: string): void {
  writeOutput(`${line}\n`);
}

/** `1 pet`, `1,000 pets` */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

/** `12 kB`, `3.4 MB` */
export function inUnits(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function printForPrograms(value: Row | Row[], options: OutputOptions): void {
  if (formatOf(options) === 'json') {
    // In a pipe, one line for each result.
    print(printableJson(value, process.stdout.isTTY ? 2 : 0));
  } else {
    const lines = csvLines([value].flat());
    writeOutput(lines.map((line) => `${line}\n`).join(''));
  }
}

/** Names of fields stand out on a terminal that has colours. */
function heading(name: string): string {
  return process.stdout.hasColors?.() ? styleText('bold', name, { validateStream: false }) : name;
}

/** A line for each field of one thing. */
export function recordLines(row: Row): string[] {
  const nameWidth = Math.max(...Object.keys(row).map((name) => name.length));
  return Object.entries(row).map(([name, value]) => `${heading(name.padEnd(nameWidth))}  ${cellOf(value)}`);
}

const GAP = 2;

/**
 * A table of at least one row, whose fields are the columns; numbers are aligned right. Where it is wider than the terminal,
 * one record follows the other.
 */
export function tableLines(rows: Row[], terminalColumns: number): string[] {
  const names = Object.keys(rows[0]!);
  const lines = [names, ...rows.map((row) => names.map((name) => cellOf(row[name])))];
  const lengths = lines.map((cells) => cells.map(lengthOf));
  const widths = names.map((_name, index) => Math.max(...lengths.map((line) => line[index]!)));
  if (widths.reduce((sum, width) => sum + width + GAP, -GAP) > terminalColumns) {
    return rows.flatMap((row, index) => [...(index === 0 ? [] : ['']), ...recordLines(row)]);
  }
  const areNumbers = names.map((name) => rows.some((row) => typeof row[name] === 'number'));
  return lines.map((cells, row) => {
    const aligned = cells.map((cell, index) => {
      const space = ' '.repeat(widths[index]! - lengths[row]![index]!);
      const text = row === 0 ? heading(cell) : cell;
      return areNumbers[index] ? space + text : text + space;
    });
    return aligned.join(' '.repeat(GAP)).trimEnd();
  });
}

/** The package needs several regular expressions for each cell. */
function lengthOf(cell: string): number {
  return /^[ -~]*$/.test(cell) ? cell.length : widthOf(cell);
}

function cellOf(value: unknown): string {
  return value === null || value === undefined ? '-' : printable(textOf(value));
}

/** CSV (RFC 4180), with LF line ends: a header with the columns of all rows, and a line for each row. */
export function csvLines(rows: readonly Row[]): string[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => columns.map((column) => row[column]));
  return columns.length === 0 ? [] : [columns, ...lines].map((line) => line.map(field).join(','));
}

/** A text that a spreadsheet would take for a formula; control characters are escaped already. */
const FORMULA = /^[=+\-@]/;

function field(value: unknown): string {
  const plain = printable(textOf(value));
  const text = typeof value !== 'number' && FORMULA.test(plain) ? `'${plain}` : plain;
  return /[",]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) {
    return '';
  }
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')) {
    return value.join(',');
  }
  return typeof value === 'object' ? printableJson(value) : String(value as string | number | boolean);
}
