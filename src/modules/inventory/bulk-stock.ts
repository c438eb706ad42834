import { Injectable } from '@nestjs/common';
import type { Transaction } from '#libs/database';

/** Bulk operations on stock, for import and export. */
@Injectable()
export class BulkStock {
  /** The stock of all pets, deleted ones too, as a query to build on. */
  readonly all = `SELECT pet_id, quantity FROM inventory`;

  /** Inserts the stock of new pets: the rows of a query with `pet_id` and `quantity`, valid by `stockQuantity`. */
  async insert(transaction: Transaction, query: string): Promise<void> {
    await transaction.query(
      `INSERT INTO inventory (pet_id, quantity) SELECT pet_id, quantity FROM (${query}) AS entered`,
    );
  }
}
