import { Injectable } from '@nestjs/common';
import { type Transaction, numberRows } from '#libs/database';

/** What of a pet is entered and read as it is; its id and category are given by the store. */
const COLUMNS = 'name, status';

/** Many pets at once, for whoever moves a whole catalogue. */
@Injectable()
export class BulkPets {
  /** All pets that are not deleted, as a query to build on. */
  readonly all = `SELECT id, category_id, ${COLUMNS} FROM pets WHERE deleted_at IS NULL`;

  /**
   * Enters the rows of a query (all columns by the rules of `petFields`, `category_id`, and more if need be) in
   * their order. Leaves them in a temporary table of this name, each with the `id` it was given. Nobody is told of the
   * new pets (PetLifecycle): the caller enters their stock, too.
   * @returns how many there are
   */
  async enter(transaction: Transaction, query: string, table: string): Promise<number> {
    const count = await numberRows(transaction, { query, sequence: 'pets_id_seq', table });
    await transaction.query(
      `INSERT INTO pets (id, category_id, ${COLUMNS}) OVERRIDING SYSTEM VALUE
       SELECT id, category_id, ${COLUMNS} FROM ${table}`,
    );
    return count;
  }
}
