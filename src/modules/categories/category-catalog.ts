import { columnNames, type Need, numberRows, type State, type Transaction } from '#libs/database';
import { Category } from './category.entity';

/** Columns that are copied unchanged, with their types; the store assigns the id. */
export const CATEGORY_COLUMNS = 'name text, description text';
const COLUMNS = columnNames(CATEGORY_COLUMNS);

/** The operations on categories that other modules may use: in commands, and for imports and exports. */
export const CategoryCatalog = {
  /** Keeps the category from being deleted until the command is committed. */
  keep: (id: number): Need => ({ row: Category, id, lock: 'FOR KEY SHARE' }),

  exists: (state: State, id: number): boolean => state.find(Category, id) !== null,

  /** All categories, as a query to build on. */
  all: `SELECT id, ${COLUMNS} FROM categories`,

  /**
   * Inserts the rows of a query (columns as valid as in `NewCategoryDto`; more columns are allowed) in order.
   * Keeps them in a temporary table of this name, with their new `id`.
   * @returns the number of rows
   */
  async insertAll(transaction: Transaction, query: string, table: string): Promise<number> {
    const count = await numberRows(transaction, { query, sequence: 'categories_id_seq', table });
    await transaction.query(
      // SQL, because TypeORM cannot insert what it selects.
      `INSERT INTO categories (id, ${COLUMNS}) OVERRIDING SYSTEM VALUE
       SELECT id, ${COLUMNS} FROM ${table}`,
    );
    return count;
  },

  /** Prevents the categories with these ids from being deleted while the transaction runs. */
  async keepAll(transaction: Transaction, ids: string): Promise<void> {
    await transaction.query(
      // Always in the same order, to avoid deadlocks. SQL, because TypeORM would fetch the rows that it locks.
      `SELECT count(*) FROM
       (SELECT FROM categories WHERE id IN (${ids}) ORDER BY id FOR KEY SHARE) AS kept`,
    );
  },
};
