import type { Command, State } from '#libs/database';
import { StockReservations } from '../inventory';
import { type KnownPet, PetCatalog } from '../pets';
import { OpenOrders } from './open-orders';
import { petStatusAfterCompleting, petStatusAfterPlacing } from './order-status';
import { Order } from './order.entity';
import {
  type NewOrderDto,
  type OrderDto,
  parseDate,
  PetNotAvailableError,
  toOrderDto,
  UnknownPetError,
} from './orders.dto';

/** Places an order: takes the stock at once and updates the pet's status. */
export function placeOrder({
  petId,
  quantity = 1,
  shipDate,
  complete = false,
}: NewOrderDto): Command<OrderDto> {
  return {
    needs: [
      PetCatalog.lock(petId),
      StockReservations.load(petId),
      ...(complete ? [OpenOrders.count(petId)] : []),
      { newId: Order },
    ],
    decide: (state) => {
      const pet = availablePet(state, petId);
      const left = StockReservations.take(state, petId, quantity);
      const id = state.newId(Order);
      const order: Order = {
        id,
        petId,
        quantity,
        shipDate: parseDate(shipDate),
        complete,
        cancelledAt: null,
      };
      state.insert(Order, id, order);
      const placed = petStatusAfterPlacing(pet.status, { stock: left });
      if (complete) {
        const remainder = { stock: left, openOrders: OpenOrders.exist(state, petId) };
        PetCatalog.setStatus(state, petId, petStatusAfterCompleting(placed, remainder));
      } else {
        OpenOrders.opened(state, petId);
        PetCatalog.setStatus(state, petId, placed);
      }
      return toOrderDto(order);
    },
  };
}

function availablePet(state: State, petId: number): KnownPet {
  const pet = PetCatalog.find(state, petId);
  if (pet === null) {
    throw new UnknownPetError(petId);
  }
  if (pet.status !== 'available') {
    throw new PetNotAvailableError(petId, pet.status);
  }
  return pet;
}
