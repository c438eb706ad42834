import { type Row, recordLines, tableLines } from './table';
import { terminalOf } from './terminal';
import { printableJson } from './text';

export type { Row } from './table';

/** Prints one thing: JSON on one line, or a line for each of its fields. */
export function printOne(row: Row, json: boolean | undefined): void {
  if (json) {
    print(printableJson(row));
    return;
  }
  recordLines(row, terminalOf(process.stdout, process.env)).forEach(print);
}

/** Prints many things: a JSON array on one line, or a table. */
export function printMany(rows: Row[], json: boolean | undefined, whenEmpty: string): void {
  if (json) {
    print(printableJson(rows));
  } else if (rows.length === 0) {
    print(whenEmpty);
  } else {
    tableLines(rows, terminalOf(process.stdout, process.env)).forEach(print);
  }
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
