import type { Need, State } from '#libs/database';
import { InsufficientStockError, MAX_QUANTITY } from './inventory.dto';
import { Stock } from './stock.entity';

/** The operations on stock that commands of other modules may use. The command must have locked the pet (PetCatalog). */
export const StockReservations = {
  load: (petId: number): Need => ({ row: Stock, id: petId }),

  /**
   * Takes units from the stock.
   * @returns the units left
   * @throws ApiError 409 `insufficient_stock`
   */
  take: (state: State, petId: number, quantity: number): number => {
    const left = unitsOf(state, petId) - quantity;
    if (left < 0) {
      throw new InsufficientStockError(petId);
    }
    state.update(Stock, petId, { petId, quantity: left });
    return left;
  },

  /** Returns units to the stock, up to its maximum. */
  giveBack: (state: State, petId: number, quantity: number): void => {
    const after = Math.min(unitsOf(state, petId) + quantity, MAX_QUANTITY);
    state.update(Stock, petId, { petId, quantity: after });
  },

  left: unitsOf,
};

/** Units in stock. Every pet has a stock row from its creation on. */
export function unitsOf(state: State, petId: number): number {
  return state.find(Stock, petId)!.quantity;
}
