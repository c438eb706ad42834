import { Injectable } from '@nestjs/common';
import { type Transaction, columnNames, numberRows } from '#libs/database';

/** Columns that are copied unchanged, with their types; the store assigns the id and resolves the category. */
export const PET_COLUMNS = 'name text, status text';
const COLUMNS = columnNames(PET_COLUMNS);

/** Bulk operations on pets, for import and export. */
@Injectable()
export class BulkPets {
  /** All pets that are not deleted, as a query to build on. */
  readonly all = `SELECT id, category_id, ${COLUMNS} FROM pets WHERE deleted_at IS NULL`;

  /**
   * Inserts the rows of a query (columns valid by `petFields`, and `category_id`; more are allowed) in order. Keeps them in
   * a temporary table of this name, with their new `id`. Does not call PetLifecycle: the caller inserts their stock.
   * @returns the number of rows
   */
  async insert(transaction: Transaction, query: string, table: string): Promise<number> {
    const count = await numberRows(transaction, { query, sequence: 'pets_id_seq', table });
    await transaction.query(
      `INSERT INTO pets (id, category_id, ${COLUMNS}) OVERRIDING SYSTEM VALUE
       SELECT id, category_id, ${COLUMNS} FROM ${table}`,
    );
    return count;
  }
}
