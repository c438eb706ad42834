import type { Need, State } from '#libs/database';
import type { KnownPet, PetStatus, StockChange } from '../pets';
import { InsufficientStockError, MAX_QUANTITY } from './inventory.dto';
import { Stock } from './stock.entity';

/** The stock of a new pet by default. */
export const FIRST_QUANTITY: Readonly<Record<PetStatus, number>> = { available: 1, pending: 1, sold: 0 };

/** The operations on stock that other modules may use: in commands that have locked the pet (PetCatalog). */
export const StockReservations = {
  load: (petId: number): Need => ({ row: Stock, id: petId }),

  /** The stock of a new pet. */
  create: (state: State, { id, status }: KnownPet, quantity = FIRST_QUANTITY[status]): void => {
    state.insert(Stock, id, { petId: id, quantity });
  },

  /**
   * Takes units from the stock.
   * @throws ApiError 409 `insufficient_stock`
   */
  take: (state: State, petId: number, quantity: number): StockChange => {
    const before = unitsOf(state, petId);
    if (before < quantity) {
      throw new InsufficientStockError(petId);
    }
    return setUnits(state, petId, before - quantity);
  },

  /** Returns units to the stock, up to its maximum. */
  giveBack: (state: State, petId: number, quantity: number): StockChange =>
    setUnits(state, petId, Math.min(unitsOf(state, petId) + quantity, MAX_QUANTITY)),

  left: unitsOf,
};

/** Units in stock. Every pet has a stock row from its creation on. */
export function unitsOf(state: State, petId: number): number {
  return state.find(Stock, petId)!.quantity;
}

export function setUnits(state: State, petId: number, after: number): StockChange {
  const before = unitsOf(state, petId);
  state.update(Stock, petId, { petId, quantity: after });
  return { before, after };
}
