import type { Call, Statement } from './pipeline';

/** So many rows are listed. Arrays cost PostgreSQL and the driver more for a few rows, and less for many. */
const MAX_LISTED = 4;

/** Inserts any number of rows with one statement. */
export class Insert {
  private readonly listed: Statement[];
  private readonly many: Statement;

  /**
   * @param into `INSERT INTO` with the table and its columns
   * @param types of the columns, for arrays
   * @param end of the statement, such as `ON CONFLICT …`
   */
  constructor(into: string, types: readonly string[], end = '') {
    const rowOf = (row: number): string =>
      `(${types.map((_type, column) => `$${row * types.length + column + 1}`).join(', ')})`;
    this.listed = Array.from({ length: MAX_LISTED }, (_value, last) => ({
      text: `${into} VALUES ${Array.from({ length: last + 1 }, (_row, row) => rowOf(row)).join(', ')}${end}`,
    }));
    this.many = { text: `${into} SELECT * FROM ${unnest(types)}${end}` };
  }

  /** @param rows at least one, with the values of the columns */
  of(rows: readonly (readonly unknown[])[]): Call {
    const listed = this.listed[rows.length - 1];
    return listed === undefined
      ? { statement: this.many, values: columnsOf(rows) }
      : { statement: listed, values: rows.length === 1 ? rows[0]! : rows.flat() };
  }
}

/** Rows from an array for each column: `unnest($1::bigint[], $2::text[])`. */
export function unnest(types: readonly string[]): string {
  return `unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`;
}

/** Turns rows into an array for each of their columns, for `unnest`. */
export function columnsOf(rows: readonly (readonly unknown[])[]): unknown[][] {
  return (rows[0] ?? []).map((_value, column) => rows.map((row) => row[column]));
}
