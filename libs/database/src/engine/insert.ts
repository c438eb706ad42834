import type { Statement } from './session';

/** Maximum number of rows that are inserted with `VALUES (…), (…)`. For more rows, one array per column is faster. */
const MAX_LISTED = 4;

export class Insert {
  private readonly listed: string[];
  private readonly many: string;

  /**
   * @param into the start of the statement: `INSERT INTO table (columns)`
   * @param types the SQL types of the columns
   * @param end the end of the statement, such as ` ON CONFLICT …`
   */
  constructor(into: string, types: readonly string[], end = '') {
    const rowOf = (row: number): string =>
      `(${types.map((_type, column) => `$${row * types.length + column + 1}`).join(', ')})`;
    const rows = Array.from({ length: MAX_LISTED }, (_value, row) => rowOf(row));
    this.listed = rows.map((_row, last) => `${into} VALUES ${rows.slice(0, last + 1).join(', ')}${end}`);
    this.many = `${into} SELECT * FROM ${rowsFromArrays(types)}${end}`;
  }

  /** @param rows at least one row; each row is a list of values in the order of the columns */
  statementFor(rows: readonly (readonly unknown[])[]): Statement {
    const text = this.listed[rows.length - 1];
    return text === undefined
      ? { text: this.many, values: columnsOf(rows) }
      : { text, values: rows.length === 1 ? rows[0]! : rows.flat() };
  }
}

/** Returns SQL that turns one array per column into rows, for example `unnest($1::bigint[], $2::text[])`. */
export function rowsFromArrays(types: readonly string[]): string {
  return `unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`;
}

/**
 * Turns a list of rows into one array of values per column. These arrays are the parameters of the SQL that
 * `rowsFromArrays` returns.
 */
export function columnsOf(rows: readonly (readonly unknown[])[]): unknown[][] {
  return rows[0]!.map((_value, column) => rows.map((row) => row[column]));
}
