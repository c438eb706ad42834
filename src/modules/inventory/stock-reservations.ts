import { Injectable } from '@nestjs/common';
import { type Transaction, int8ToNumber, prepared } from '#libs/database';
import { InsufficientStockError } from './inventory.errors';
import { MAX_QUANTITY } from './stock-fields';

interface Left {
  quantity: number;
}

const TAKE = {
  name: 'stock-take',
  text: `UPDATE inventory SET quantity = quantity - $2 WHERE pet_id = $1 AND quantity >= $2 RETURNING quantity`,
};

const TAKE_FROM_PLENTY = {
  name: 'stock-take-from-plenty',
  text: `UPDATE inventory SET quantity = quantity - wanted.units
    FROM unnest($1::bigint[], $2::bigint[]) AS wanted (pet_id, units)
    WHERE inventory.pet_id = wanted.pet_id AND quantity > wanted.units RETURNING inventory.pet_id`,
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

  /**
   * Takes units of many pets out of the stock, where more are in it than are taken.
   * @param units wanted, by pet
   * @returns the pets whose units were taken; of all others none was
   */
  async takeFromPlenty(transaction: Transaction, units: ReadonlyMap<number, number>): Promise<Set<number>> {
    if (units.size === 0) {
      return new Set();
    }
    const wanted = [[...units.keys()], [...units.values()]];
    const pets = await prepared<{ pet_id: string }>(transaction, TAKE_FROM_PLENTY, wanted);
    return new Set(pets.map(({ pet_id }) => int8ToNumber(pet_id)));
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
