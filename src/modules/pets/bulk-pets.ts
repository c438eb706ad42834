import { Injectable } from '@nestjs/common';
import { type Transaction, numberRows } from '#libs/database';

/** Many pets at once, for whoever moves a whole catalogue. */
@Injectable()
export class BulkPets {
  /** All pets that are not deleted, as a query to build on. */
  readonly all = `SELECT id, name, category_id, status FROM pets WHERE deleted_at IS NULL`;

  /**
   * Enters the rows of a query (`name` and `status` by the rules of `petFields`, `category_id`, and more if need be) in
   * their order. Leaves them in a temporary table of this name, each with the `id` it was given. Nobody is told of the
   * new pets (PetLifecycle): the caller enters their stock, too.
   * @returns how many there are
   */
  async enter(transaction: Transaction, query: string, table: string): Promise<number> {
    const count = await numberRows(transaction, { query, sequence: 'pets_id_seq', table });
    await transaction.query(
      `INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
       SELECT id, name, category_id, status FROM ${table}`,
    );
    return count;
  }
}
