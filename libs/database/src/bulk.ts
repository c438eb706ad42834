import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { EntityManager } from 'typeorm';

/** Characters with a special meaning in the text format. */
const SPECIAL = /[\\\t\n\r]/g;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A row in the text format of COPY, with its line end. Source: PostgreSQL's manual, COPY, "Text Format". */
export function copyRow(values: readonly (string | number | null)[]): string {
  return `${values.map(copyValue).join('\t')}\n`;
}

function copyValue(value: string | number | null): string {
  if (value === null) {
    return '\\N';
  }
  return typeof value === 'number' ? String(value) : value.replace(SPECIAL, (special) => ESCAPED[special]!);
}

/**
 * Sends rows to a table through COPY, which is several times faster than INSERT. Needs a connection without `pipeline`, as
 * that of a long transaction is.
 * @param target the table, maybe with its columns: `stock (pet_id, quantity)`
 * @param rows in the text format of COPY, in chunks of any size
 * @returns the number of rows, as the server counted them
 */
export async function copyInto(
  transaction: EntityManager,
  target: string,
  rows: AsyncIterable<Buffer | string>,
): Promise<number> {
  const client = (await transaction.queryRunner!.connect()) as unknown as Client;
  const table = client.query(copyFrom(`COPY ${target} FROM STDIN`));
  await pipeline(rows, table);
  return table.rowCount;
}

/**
 * Assigns ids before rows are inserted, so that other rows can refer to them. Creates a temporary table, dropped with the
 * transaction, from the rows of a query in their order, each with the next value of a sequence as `id`.
 * @returns the number of rows
 */
export async function numberRows(
  transaction: EntityManager,
  { query, sequence, table }: { query: string; sequence: string; table: string },
): Promise<number> {
  await transaction.query(
    `CREATE TEMPORARY TABLE ${table} ON COMMIT DROP AS
     SELECT nextval('${sequence}') AS id, source.* FROM (${query}) AS source`,
  );
  await transaction.query(`ANALYZE ${table}`);
  return countRows(transaction, `TABLE ${table}`);
}

/** How many rows a query has. */
export async function countRows(transaction: EntityManager, query: string): Promise<number> {
  const [row] = await transaction.query<{ count: string }[]>(
    `SELECT count(*) AS count FROM (${query}) AS counted`,
  );
  return Number(row!.count);
}

/** The names in a column definition list such as `name text, status text`. */
export function columnNames(definitions: string): string {
  return definitions.replace(/ \w+(?=,|$)/g, '');
}
