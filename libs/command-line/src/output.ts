import { styleText } from 'node:util';
import widthOf from 'string-width';
import { printable, printableJson } from '#libs/messages';
import { writeOutput } from './files';

export interface OutputOptions {
  json?: boolean;
}

export function print(line: string): void {
  writeOutput(`${line}\n`);
}

function printResult(value: unknown, { json }: OutputOptions, textOf: () => string): void {
  print(json ? printableJson(value, process.stdout.isTTY ? 2 : 0) : textOf());
}

export function printOne(row: object, options: OutputOptions): void {
  printResult(row, options, () => recordLines(row).join('\n'));
}

export function printDone(sentence: string, row: object, options: OutputOptions): void {
  printResult(row, options, () => printable(sentence));
}

export function printMany(rows: object[], options: OutputOptions, whenEmpty: string): void {
  // `columns` is undefined for a pipe, and 0 for a terminal of unknown width: do not limit the width then.
  const columns = process.stdout.columns || Infinity;
  printResult(rows, options, () =>
    rows.length === 0 ? printable(whenEmpty) : tableLines(rows, columns).join('\n'),
  );
}

export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

export function inUnits(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const AGES = new Intl.RelativeTimeFormat('en');
const UNITS = { year: 31_536_000, month: 2_592_000, day: 86_400, hour: 3_600, minute: 60, second: 1 };

/** Returns how long ago a time was, or how far ahead it is: `36 minutes ago`, `in 3 days`. */
function ageOf(time: Date): string {
  const seconds = (time.getTime() - Date.now()) / 1_000;
  const units = Object.keys(UNITS) as (keyof typeof UNITS)[];
  const unit = units.find((one) => Math.abs(seconds) >= UNITS[one]) ?? 'second';
  return AGES.format(Math.trunc(seconds / UNITS[unit]), unit);
}

/**
 * Turns the name of a field into words: `lastUsedAt` becomes `last used`. The words are bold on a terminal with colours.
 */
function headingOf(name: string): string {
  const words = name.replace(/At$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return process.stdout.hasColors?.() ? styleText('bold', words, { validateStream: false }) : words;
}

export function recordLines(row: object): string[] {
  const fields = Object.entries(row).map(([name, value]: [string, unknown]) => {
    return [headingOf(name), value instanceof Date ? `${value.toJSON()} (${ageOf(value)})` : cellOf(value)];
  });
  return alignedLines(fields);
}

/**
 * Returns the lines of a table with one column per field. There must be at least one row. If the table is wider than
 * the terminal, returns one record after the other, with one line per field.
 */
export function tableLines(rows: object[], terminalColumns: number): string[] {
  const fields = rows as Record<string, unknown>[];
  const names = Object.keys(rows[0]!).filter((name) => fields.some((row) => (row[name] ?? null) !== null));
  const areNumbers = names.map((name) => fields.some((row) => typeof row[name] === 'number'));
  const cells = fields.map((row) => names.map((name) => cellOf(row[name])));
  const lines = alignedLines([names.map(headingOf), ...cells], areNumbers);
  return lines.some((line) => widthOf(line) > terminalColumns)
    ? fields.flatMap((row, index) => [
        ...(index === 0 ? [] : ['']),
        ...recordLines(Object.fromEntries(names.map((name) => [name, row[name]]))),
      ])
    : lines;
}

function alignedLines(lines: string[][], toTheRight: readonly boolean[] = []): string[] {
  const widths = lines[0]!.map((_cell, column) => Math.max(...lines.map((line) => widthOf(line[column]!))));
  return lines.map((line) => {
    const aligned = line.map((cell, column) => {
      const space = ' '.repeat(widths[column]! - widthOf(cell));
      return toTheRight[column] ? space + cell : cell + space;
    });
    return aligned.join('  ').trimEnd();
  });
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) {
    return '-';
  }
  if (value instanceof Date) {
    return ageOf(value);
  }
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')) {
    return printable(value.join(','));
  }
  return typeof value === 'object' ? printableJson(value) : printable(String(value as string | number));
}
