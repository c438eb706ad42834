import { Injectable } from '@nestjs/common';
import type { Transaction } from '#libs/database';

/** The stock of many pets at once, for whoever moves a whole catalogue. */
@Injectable()
export class BulkStock {
  /** The stock of all pets, deleted ones too, as a query to build on. */
  readonly all = `SELECT pet_id, quantity FROM inventory`;

  /** Enters the first stock of new pets: the rows of a query, `pet_id` and `quantity`, by the rule `stockQuantity`. */
  async enter(transaction: Transaction, query: string): Promise<void> {
    await transaction.query(
      `INSERT INTO inventory (pet_id, quantity) SELECT pet_id, quantity FROM (${query}) AS entered`,
    );
  }
}
