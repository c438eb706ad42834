import type { Command, Need, State } from '#libs/database';
import type { Precondition } from '#libs/http';
import { StockReservations } from '../inventory';
import { PetCatalog } from '../pets';
import { OpenOrders } from './open-orders';
import { canTransition, petStatusAfterCancelling, petStatusAfterCompleting } from './order-status';
import { Order, statusOf } from './order.entity';
import {
  OrderAlreadyCompleteError,
  type OrderDto,
  OrderNotFoundError,
  type OrderPatchDto,
  parseDate,
  toOrderDto,
} from './orders.dto';

/** An order and its pet, read beforehand because the pet is what gets locked. An order never changes its pet. */
export type OrderOfPet = Pick<Order, 'id' | 'petId'>;

/** Completes or reschedules an order. If no stock and no open order is left, the pet becomes sold. */
export function updateOrder(
  { id, petId }: OrderOfPet,
  patch: OrderPatchDto,
  precondition: Precondition,
): Command<OrderDto> {
  return {
    needs: [...orderNeeds(id, petId), OpenOrders.count(petId)],
    decide: (state) => {
      const order = foundOrder(state, id, precondition);
      const { complete = order.complete } = patch;
      if (!canTransition(statusOf(order), complete ? 'complete' : 'open')) {
        throw new OrderAlreadyCompleteError(id);
      }
      const shipDate = patch.shipDate === undefined ? order.shipDate : parseDate(patch.shipDate);
      const changed: Order = { ...order, complete, shipDate };
      state.update(Order, id, changed);
      if (complete && !order.complete) {
        OpenOrders.closed(state, petId);
        const remainder = {
          stock: StockReservations.left(state, petId),
          openOrders: OpenOrders.exist(state, petId),
        };
        const pet = PetCatalog.find(state, petId)!;
        PetCatalog.setStatus(state, petId, petStatusAfterCompleting(pet.status, remainder));
      }
      return toOrderDto(changed);
    },
  };
}

/** Cancels an open order and returns its units to the stock. */
export function cancelOrder({ id, petId }: OrderOfPet, precondition: Precondition): Command<void> {
  return {
    needs: orderNeeds(id, petId),
    decide: (state) => {
      const order = foundOrder(state, id, precondition);
      if (!canTransition(statusOf(order), 'cancelled')) {
        throw new OrderAlreadyCompleteError(id);
      }
      state.update(Order, id, { ...order, cancelledAt: state.now });
      OpenOrders.closed(state, petId);
      StockReservations.giveBack(state, petId, order.quantity);
      // Exists, because a pet with an open order cannot be deleted.
      const pet = PetCatalog.find(state, petId)!;
      PetCatalog.setStatus(state, petId, petStatusAfterCancelling(pet.status));
    },
  };
}

function orderNeeds(id: number, petId: number): Need[] {
  return [PetCatalog.lock(petId), { row: Order, id }, StockReservations.load(petId)];
}

function foundOrder(state: State, id: number, precondition: Precondition): Order {
  const order = state.find(Order, id);
  if (order?.cancelledAt !== null) {
    throw new OrderNotFoundError(id);
  }
  precondition.assertHolds(toOrderDto(order));
  return order;
}
