import { type Aggregate, type Command, MAX_COUNT, type Need, type State } from '#libs/database';
import type { Precondition } from '#libs/http';
import { StockReservations } from '../inventory';
import { PetCatalog } from '../pets';
import { Order } from './order.entity';
import {
  type NewOrderDto,
  OrderAlreadyCompleteError,
  type OrderDto,
  OrderNotFoundError,
  type OrderPatchDto,
  parseDate,
  PetNotAvailableError,
  toOrderDto,
  UnknownPetError,
} from './orders.dto';

const COUNT: Aggregate = {
  name: 'open orders',
  text: `SELECT asked.id, count(*) AS value FROM unnest($1::bigint[]) AS asked (id) CROSS JOIN LATERAL
    (SELECT 1 FROM orders WHERE pet_id = asked.id AND cancelled_at IS NULL AND complete = false
     LIMIT ${MAX_COUNT}) AS open
    GROUP BY asked.id`,
};

/** The number of a pet's open orders, for commands. */
export const OpenOrders = {
  count: (petId: number): Need => ({ aggregate: COUNT, id: petId }),
  exist: (state: State, petId: number): boolean => state.aggregate(COUNT, petId) > 0,
  opened: (state: State, petId: number): void => state.adjust(COUNT, petId, 1),
  closed: (state: State, petId: number): void => state.adjust(COUNT, petId, -1),
};

/** Places an order: takes the stock at once. */
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
      assertAvailable(state, petId);
      const taken = StockReservations.take(state, petId, quantity);
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
      if (!complete) {
        OpenOrders.opened(state, petId);
      }
      PetCatalog.followStock(state, petId, taken, () => !complete || OpenOrders.exist(state, petId));
      return toOrderDto(order);
    },
  };
}

function assertAvailable(state: State, petId: number): void {
  const pet = PetCatalog.find(state, petId);
  if (pet === null) {
    throw new UnknownPetError(petId);
  }
  if (pet.status !== 'available') {
    throw new PetNotAvailableError(petId, pet.status);
  }
}

/** An order and its pet, read beforehand because the pet is what gets locked. An order never changes its pet. */
export type OrderOfPet = Pick<Order, 'id' | 'petId'>;

/** Reschedules an order. Neither its pet nor the stock matters, so it need not be read before to know the pet. */
export function rescheduleOrder(
  id: number,
  patch: OrderPatchDto,
  precondition: Precondition,
): Command<OrderDto> {
  return {
    needs: [lockOrder(id)],
    decide: (state) => toOrderDto(applyPatch(state, id, patch, precondition).after),
  };
}

/** Completes an order, and may reschedule it. */
export function completeOrder(
  { id, petId }: OrderOfPet,
  patch: OrderPatchDto,
  precondition: Precondition,
): Command<OrderDto> {
  return {
    needs: [...orderNeeds(id, petId), OpenOrders.count(petId)],
    decide: (state) => {
      const { before, after } = applyPatch(state, id, patch, precondition);
      if (!before.complete) {
        OpenOrders.closed(state, petId);
        const left = StockReservations.left(state, petId);
        const unchanged = { before: left, after: left };
        PetCatalog.followStock(state, petId, unchanged, () => OpenOrders.exist(state, petId));
      }
      return toOrderDto(after);
    },
  };
}

function applyPatch(
  state: State,
  id: number,
  patch: OrderPatchDto,
  precondition: Precondition,
): { before: Order; after: Order } {
  const before = foundOrder(state, id, precondition);
  const { complete = before.complete } = patch;
  if (before.complete && !complete) {
    throw new OrderAlreadyCompleteError(id);
  }
  const shipDate = patch.shipDate === undefined ? before.shipDate : parseDate(patch.shipDate);
  const after: Order = { ...before, complete, shipDate };
  state.update(Order, id, after);
  return { before, after };
}

/** Cancels an open order and returns its units to the stock. */
export function cancelOrder({ id, petId }: OrderOfPet, precondition: Precondition): Command<void> {
  return {
    needs: orderNeeds(id, petId),
    decide: (state) => {
      const order = foundOrder(state, id, precondition);
      if (order.complete) {
        throw new OrderAlreadyCompleteError(id);
      }
      state.update(Order, id, { ...order, cancelledAt: state.now });
      OpenOrders.closed(state, petId);
      const returned = StockReservations.giveBack(state, petId, order.quantity);
      // The pet exists, because it cannot be deleted while an order is open. Some stock is left, so others do not matter.
      PetCatalog.followStock(state, petId, returned, () => true);
    },
  };
}

function orderNeeds(id: number, petId: number): Need[] {
  return [PetCatalog.lock(petId), StockReservations.load(petId), lockOrder(id)];
}

function lockOrder(id: number): Need {
  return { row: Order, id, lock: 'FOR NO KEY UPDATE' };
}

function foundOrder(state: State, id: number, precondition: Precondition): Order {
  const order = state.find(Order, id);
  if (order?.cancelledAt !== null) {
    throw new OrderNotFoundError(id);
  }
  precondition.assertHolds(toOrderDto(order));
  return order;
}
