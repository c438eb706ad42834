import type { Command } from '#libs/database';
import { type Precondition, ValidationFailedError } from '#libs/http';
import { PetCatalog, PetNotFoundError } from '../pets';
import {
  InsufficientStockError,
  type InventoryItemDto,
  MAX_QUANTITY,
  toInventoryItemDto,
} from './inventory.dto';
import { StockReservations, unitsOf } from './stock-reservations';
import { type InventoryItem, Stock } from './stock.entity';

/** Sets the stock to a count. */
export function setStock(
  petId: number,
  quantity: number,
  precondition: Precondition,
): Command<InventoryItemDto> {
  return changeStock(petId, (item) => {
    precondition.assertHolds(toInventoryItemDto(item));
    return { quantity, restocks: quantity > 0 };
  });
}

/** Adds units to the stock, or removes them. */
export function adjustStock(petId: number, delta: number): Command<InventoryItemDto> {
  return changeStock(petId, (item) => {
    const quantity = item.quantity + delta;
    if (quantity < 0) {
      throw new InsufficientStockError(petId);
    }
    if (quantity > MAX_QUANTITY) {
      throw new ValidationFailedError(`delta must not take the stock above ${MAX_QUANTITY}.`);
    }
    return { quantity, restocks: delta > 0 };
  });
}

function changeStock(
  petId: number,
  rule: (item: InventoryItem) => { quantity: number; restocks: boolean },
): Command<InventoryItemDto> {
  return {
    needs: [PetCatalog.lock(petId), StockReservations.load(petId)],
    decide: (state) => {
      const pet = PetCatalog.find(state, petId);
      if (pet === null) {
        throw new PetNotFoundError(petId);
      }
      const { quantity, restocks } = rule({ petId, quantity: unitsOf(state, petId), status: pet.status });
      const status = restocks ? 'available' : pet.status;
      state.update(Stock, petId, { petId, quantity });
      PetCatalog.setStatus(state, petId, status);
      return toInventoryItemDto({ petId, quantity, status });
    },
  };
}
