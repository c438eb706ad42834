import { Injectable } from '@nestjs/common';
import { type Transaction, prepared } from '#libs/database';
import { InsufficientStockError } from './inventory.errors';
import { MAX_QUANTITY } from './stock-fields';

interface Left {
  quantity: number;
}

const TAKE = {
  name: 'stock-take',
  text: `UPDATE inventory SET quantity = quantity - $2 WHERE pet_id = $1 AND quantity >= $2 RETURNING quantity`,
};

/** What other modules may do with stock. Whoever calls holds the pet's lock (PetCatalog), so nothing moves in between. */
@Injectable()
export class StockReservations {
  /**
   * Takes units out of the stock.
   * @returns the units left
   * @throws ApiError 409 `insufficient_stock`
   */
  async take(transaction: Transaction, petId: number, quantity: number): Promise<number> {
    const [left] = await prepared<Left>(transaction, TAKE, [petId, quantity]);
    if (!left) {
      throw new InsufficientStockError(petId);
    }
    return left.quantity;
  }

  /** Puts units back. A stock that was meanwhile set to the most there can be stays at that. */
  async giveBack(transaction: Transaction, petId: number, quantity: number): Promise<void> {
    await transaction.query(
      `UPDATE inventory SET quantity = least(quantity::bigint + $2, $3) WHERE pet_id = $1`,
      [petId, quantity, MAX_QUANTITY],
    );
  }

  /** Units in stock; 0 for a pet that was never in it. */
  async left(transaction: Transaction, petId: number): Promise<number> {
    const [left] = await transaction.query<Left[]>(`SELECT quantity FROM inventory WHERE pet_id = $1`, [
      petId,
    ]);
    return left?.quantity ?? 0;
  }
}
