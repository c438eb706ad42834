import { isDeepStrictEqual, styleText } from 'node:util';
import widthOf from 'string-width';
import { printable, printableJson, withoutSecrets } from '#libs/messages';
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

/** @param lessImportant the columns to leave out if the terminal is too narrow, starting with the first */
export function printMany(
  rows: object[],
  options: OutputOptions,
  whenEmpty: string,
  lessImportant: readonly string[] = [],
): void {
  // `columns` is undefined if the output is a pipe, and 0 if the width of the terminal is unknown. In both cases, do
  // not limit the width of the table.
  const columns = process.stdout.columns || Infinity;
  printResult(rows, options, () =>
    rows.length === 0
      ? printable(withoutSecrets(whenEmpty))
      : tableLines(rows, columns, lessImportant).join('\n'),
  );
}

export function pluralized(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

export function formatBytes(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const UNITS = { year: 31_536_000, month: 2_592_000, day: 86_400, hour: 3_600, minute: 60, second: 1 };

/** Returns how long ago a time was, for example `36m ago`, or how far ahead the time is, for example `in 3d`. */
function ageOf(time: Date): string {
  const seconds = (time.getTime() - Date.now()) / 1_000;
  const units = Object.keys(UNITS) as (keyof typeof UNITS)[];
  const unit = units.find((one) => Math.abs(seconds) >= UNITS[one]) ?? 'second';
  return new Intl.RelativeTimeFormat('en', { style: 'narrow' }).format(
    Math.trunc(seconds / UNITS[unit]),
    unit,
  );
}

function wordsOf(name: string): string {
  return name.replace(/At$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function bold(words: string): string {
  return process.stdout.hasColors?.() ? styleText('bold', words, { validateStream: false }) : words;
}

export function recordLines(row: object): string[] {
  const fields = Object.entries(row).map(([name, value]: [string, unknown]) => {
    const cell = value instanceof Date ? `${value.toJSON()} (${ageOf(value)})` : cellOf(value);
    return [bold(wordsOf(name)), cell];
  });
  return alignedLines(fields);
}

const MIN_CELL_WIDTH = 14;
const GAP = '  ';

/**
 * Returns the lines of a table. If the terminal is too narrow, cuts long cells, and then leaves out columns. If the
 * terminal is still too narrow, returns each row as a record with one line per column.
 */
export function tableLines(
  rows: object[],
  terminalColumns: number,
  lessImportant: readonly string[] = [],
): string[] {
  const fields = rows as Record<string, unknown>[];
  const isUsed = (name: string) => fields.some((row) => (row[name] ?? null) !== null);
  const names = Object.keys(rows[0]!).filter(isUsed);
  const dispensable = lessImportant.filter(isUsed);
  for (let count = 0; count <= dispensable.length; count += 1) {
    const missing = dispensable.slice(0, count);
    const table = fittingTable(
      fields,
      names.filter((name) => !missing.includes(name)),
      terminalColumns,
    );
    if (table !== undefined) {
      const { lines, isCut } = table;
      const notShown = [...missing.map(wordsOf), ...(isCut ? ['the rest after …'] : [])];
      return notShown.length === 0 ? lines : [...lines, `Not shown: ${notShown.join(', ')} (see --json)`];
    }
  }
  return fields.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...recordLines(Object.fromEntries(names.map((name) => [name, row[name]]))),
  ]);
}

/** Returns a table with these columns, or undefined if the table is too wide even with cut cells. */
function fittingTable(rows: Record<string, unknown>[], names: string[], terminalColumns: number) {
  const areNumbers = names.map((name) => rows.some((row) => typeof row[name] === 'number'));
  const cells = rows.map((row) => names.map((name) => cellOf(row[name])));
  const words = names.map(wordsOf);
  const whole = widthsOf([words, ...cells]);
  // Never cut a number, because the remaining digits would read as another number.
  const narrowest = words.map((word, column) => (areNumbers[column] ? whole[column]! : widthOf(word)));
  const widthsIfCut = (most: number) =>
    whole.map((width, column) => Math.max(narrowest[column]!, Math.min(width, most)));
  const fits = (widths: number[]) =>
    widths.reduce((sum, width) => sum + GAP.length + width, -GAP.length) <= terminalColumns;
  let most = Math.max(...whole);
  while (most > MIN_CELL_WIDTH && !fits(widthsIfCut(most))) {
    most -= 1;
  }
  const widths = widthsIfCut(most);
  const cutCells = cells.map((line) => line.map((cell, column) => cut(cell, widths[column]!)));
  const lines = alignedLines([words.map(bold), ...cutCells], areNumbers);
  return fits(widths) ? { lines, isCut: !isDeepStrictEqual(cells, cutCells) } : undefined;
}

/** If a text takes more than `width` columns of the terminal, replaces the end of the text by an ellipsis. */
function cut(text: string, width: number): string {
  if (widthOf(text) <= width) {
    return text;
  }
  const characters = [...text.slice(0, 2 * width)].slice(0, width - 1);
  while (widthOf(characters.join('')) > width - 1) {
    characters.pop();
  }
  return `${characters.join('')}…`;
}

function widthsOf(lines: string[][]): number[] {
  return lines[0]!.map((_cell, column) => Math.max(...lines.map((line) => widthOf(line[column]!))));
}

function alignedLines(lines: string[][], toTheRight: readonly boolean[] = []): string[] {
  const widths = widthsOf(lines);
  return lines.map((line) => {
    const aligned = line.map((cell, column) => {
      const space = ' '.repeat(widths[column]! - widthOf(cell));
      return toTheRight[column] ? space + cell : cell + space;
    });
    return aligned.join(GAP).trimEnd();
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
