export type Row = Record<string, unknown>;

/** Prints one thing: JSON on one line, or a line for each of its fields. */
export function printOne(row: Row, json: boolean | undefined): void {
  if (json) {
    print(JSON.stringify(row));
    return;
  }
  const width = Math.max(...Object.keys(row).map((name) => name.length));
  for (const [name, value] of Object.entries(row)) {
    print(`${name.padEnd(width)}  ${cell(value)}`);
  }
}

/** Prints many things: a JSON array on one line, or a table. */
export function printMany(rows: Row[], json: boolean | undefined, whenEmpty: string): void {
  if (json) {
    print(JSON.stringify(rows));
  } else if (rows.length === 0) {
    print(whenEmpty);
  } else {
    printTable(rows);
  }
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printTable(rows: Row[]): void {
  const columns = Object.keys(rows[0]!);
  const table = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))];
  const widths = columns.map((_column, index) => Math.max(...table.map((line) => line[index]!.length)));
  for (const line of table) {
    print(
      line
        .map((text, index) => text.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    );
  }
}

function cell(value: unknown): string {
  if (value === null || value === undefined) {
    return '-';
  }
  return Array.isArray(value) ? value.join(',') : String(value as string | number | boolean);
}
