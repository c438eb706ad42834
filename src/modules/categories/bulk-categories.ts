import { Injectable } from '@nestjs/common';
import { type Transaction, numberRows } from '#libs/database';

/** Many categories at once, for whoever moves a whole catalogue. */
@Injectable()
export class BulkCategories {
  /** All categories, as a query to build on. */
  readonly all = `SELECT id, name, description FROM categories`;

  /**
   * Enters the rows of a query (`name` and `description` by the rules of `categoryFields`, and more if need be) in
   * their order. Leaves them in a temporary table of this name, each with the `id` it was given.
   * @returns how many there are
   */
  async enter(transaction: Transaction, query: string, table: string): Promise<number> {
    const count = await numberRows(transaction, { query, sequence: 'categories_id_seq', table });
    await transaction.query(
      `INSERT INTO categories (id, name, description) OVERRIDING SYSTEM VALUE
       SELECT id, name, description FROM ${table}`,
    );
    return count;
  }

  /** Keeps the categories with the ids of a query from being deleted while the transaction runs. */
  async hold(transaction: Transaction, ids: string): Promise<void> {
    // Always in the same order, or two that hold the same ones could wait for each other.
    await transaction.query(
      `SELECT count(*) FROM
       (SELECT FROM categories WHERE id IN (${ids}) ORDER BY id FOR KEY SHARE) AS held`,
    );
  }
}
