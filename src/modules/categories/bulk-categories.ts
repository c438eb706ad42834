import { Injectable } from '@nestjs/common';
import { type Transaction, numberRows } from '#libs/database';

/** Bulk operations on categories, for import and export. */
@Injectable()
export class BulkCategories {
  /** All categories, as a query to build on. */
  readonly all = `SELECT id, name, description FROM categories`;

  /**
   * Inserts the rows of a query (`name` and `description`, valid by `categoryFields`; more columns are allowed) in order.
   * Keeps them in a temporary table of this name, with their new `id`.
   * @returns the number of rows
   */
  async enter(transaction: Transaction, query: string, table: string): Promise<number> {
    const count = await numberRows(transaction, { query, sequence: 'categories_id_seq', table });
    await transaction.query(
      `INSERT INTO categories (id, name, description) OVERRIDING SYSTEM VALUE
       SELECT id, name, description FROM ${table}`,
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
