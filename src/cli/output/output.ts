import { PETSTORE, printable, printableJson, terminalOf } from '../../runtime/messages';
import { CommandFailure, UsageError } from '../command/failure';
import { OutputFailure, writeOutput } from './standard-output';
import { type Look, type Row, recordLines, tableLines } from './table';

export type { Row } from './table';

export const FORMATS = ['table', 'json', 'yaml', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** Options of every command with output. */
export interface OutputOptions {
  output?: Format;
  /** Short for `output: 'json'`. */
  json?: boolean;
  columns?: string[];
  /** A column; a leading dash sorts in descending order. */
  sort?: string;
}

export function formatOf({ output, json }: OutputOptions): Format {
  return output ?? (json ? 'json' : 'table');
}

/** True if the output is for people: tables and explanations. */
export function isForPeople(options: OutputOptions): boolean {
  return formatOf(options) === 'table';
}

/** Prints one record: in the given format, or one line per field. */
export async function printOne(row: Row, options: OutputOptions): Promise<void> {
  const [chosen = {}] = chosenColumns([row], options);
  if (isForPeople(options)) {
    recordLines(chosen, look()).forEach(print);
  } else {
    await printForPrograms(chosen, options);
  }
}

/** Prints what was done: a sentence for people, a record for programs. */
export async function printDone(sentence: string, row: Row, options: OutputOptions): Promise<void> {
  await (isForPeople(options) ? print(printable(sentence)) : printOne(row, options));
}

/** Prints a list: in the given format, or as a table. */
export async function printMany(rows: Row[], options: OutputOptions, whenEmpty: string): Promise<void> {
  const chosen = chosenColumns(sorted(rows, options.sort), options);
  if (!isForPeople(options)) {
    await printForPrograms(chosen, options);
  } else if (chosen.length === 0) {
    print(printable(whenEmpty));
  } else {
    tableLines(chosen, look()).forEach(print);
  }
}

/** Prints a new key. This is the only chance, so on failure it says how to revoke the key. */
export async function printKey(
  row: Row & { id: number; key: string },
  options: OutputOptions,
): Promise<void> {
  try {
    await printOne(row, options);
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

async function printForPrograms(value: Row | Row[], options: OutputOptions): Promise<void> {
  const format = formatOf(options);
  if (format === 'json') {
    // In a pipe, one line for each result.
    print(printableJson(value, process.stdout.isTTY ? 2 : 0));
  } else if (format === 'csv') {
    csvLines([value].flat()).forEach(print);
  } else {
    const { stringify } = await import('yaml');
    stringify(value).trimEnd().split('\n').map(printable).forEach(print);
  }
}

/** Relative times on a terminal only, so that piped output is stable. */
function look(): Look {
  const terminal = terminalOf(process.stdout, process.env);
  return { ...terminal, now: process.stdout.isTTY ? Date.now() : undefined };
}

function chosenColumns(rows: Row[], { columns }: OutputOptions): Row[] {
  if (columns === undefined || rows.length === 0) {
    return rows;
  }
  columns.forEach((column) => assertColumn(rows, '--columns', column));
  return rows.map((row) => Object.fromEntries(columns.map((column) => [column, row[column] ?? null])));
}

/** @param sort a column of the rows; after a dash, in descending order */
export function sorted(rows: Row[], sort: string | undefined): Row[] {
  if (sort === undefined || rows.length === 0) {
    return rows;
  }
  const column = sort.replace(/^-/, '');
  assertColumn(rows, '--sort', column);
  const direction = sort === column ? 1 : -1;
  return rows.toSorted((a, b) => direction * compare(a[column], b[column]));
}

function assertColumn(rows: Row[], option: string, column: string): void {
  const known = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (!known.includes(column)) {
    throw new UsageError(`${option} takes ${known.join(', ')}, not "${column}".`);
  }
}

/** Compares numbers as numbers, everything else as text; empty values come first. */
function compare(a: unknown, b: unknown): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a - b
    : sortText(a).localeCompare(sortText(b), 'en', { numeric: true });
}

function sortText(value: unknown): string {
  return value === null || value === undefined ? '' : printableJson(value);
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
