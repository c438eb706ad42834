import { terminalOf } from '#libs/terminal';
import { CommandFailure } from './command-failure';
import { OutputFailure, writeOutput } from './standard-output';
import { type Row, recordLines, tableLines } from './table';
import { printable, printableJson } from '../runtime/text';
import { PETSTORE } from '../runtime/command-name';

export type { Row } from './table';

/** Prints one thing: JSON on one line, or a line for each of its fields. */
export function printOne(row: Row, json: boolean | undefined): void {
  if (json) {
    print(printableJson(row));
    return;
  }
  recordLines(row, terminalOf(process.stdout, process.env)).forEach(print);
}

/** Prints a key that was issued just now: this once, and if it cannot be shown it is of no use to anybody any more. */
export function printKey(row: Row & { id: number; key: string }, json: boolean | undefined): void {
  try {
    printOne(row, json);
    if (!json) {
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

/** Prints many things: a JSON array on one line, or a table. */
export function printMany(rows: Row[], json: boolean | undefined, whenEmpty: string): void {
  if (json) {
    print(printableJson(rows));
  } else if (rows.length === 0) {
    print(printable(whenEmpty));
  } else {
    tableLines(rows, terminalOf(process.stdout, process.env)).forEach(print);
  }
}

export function print(line: string): void {
  writeOutput(`${line}\n`);
}

/** `1 pet`, `1,000 pets` */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
