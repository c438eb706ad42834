import { Injectable } from '@nestjs/common';
import { type Transaction, columnNames, numberRows } from '#libs/database';

/** Columns that are copied unchanged, with their types; the store assigns the id. */
export const CATEGORY_COLUMNS = 'name text, description text';
const COLUMNS = columnNames(CATEGORY_COLUMNS);

/** Bulk operations on categories, for import and export. */
@Injectable()
export class BulkCategories {
  /** All categories, as a query to build on. */
  readonly all = `SELECT id, ${COLUMNS} FROM categories`;

  /**
   * Inserts the rows of a query (columns valid by `categoryFields`; more columns are allowed) in order.
   * Keeps them in a temporary table of this name, with their new `id`.
   * @returns the number of rows
   */
  async insert(transaction: Transaction, query: string, table: string): Promise<number> {
    const count = await numberRows(transaction, { query, sequence: 'categories_id_seq', table });
    await transaction.query(
      `INSERT INTO categories (id, ${COLUMNS}) OVERRIDING SYSTEM VALUE
       SELECT id, ${COLUMNS} FROM ${table}`,
    );
    return count;
  }

  /** Prevents the categories with these ids from being deleted while the transaction runs. */
  async hold(transaction: Transaction, ids: string): Promise<void> {
    // Always in the same order, to avoid deadlocks.
    await transaction.query(
      `SELECT count(*) FROM
       (SELECT FROM categories WHERE id IN (${ids}) ORDER BY id FOR KEY SHARE) AS held`,
    );
  }
}
