import { Injectable } from '@nestjs/common';
import {
  type CallerId,
  CommandExecutor,
  Database,
  type Need,
  type CommandSource,
  PageReader,
  type Select,
  type State,
} from '#libs/database';
import { type Page, pageMapper, rangeOf } from '#libs/http';
import type { WrittenTable } from '../../feature';
import type { NewEvent } from '../events';
import { StockRows, stockAfter } from '../inventory';
import { PetRows } from '../pets';
import { Order } from './order.entity';
import {
  type ListOrdersQuery,
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

@Injectable()
export class OrdersService {
  private readonly pages = new PageReader(this.database, Order, selectOrders, pageMapper(toOrderDto));

  constructor(
    private readonly database: Database,
    private readonly commands: CommandExecutor,
  ) {}

  async list(query: ListOrdersQuery, callerId: CallerId): Promise<Page<OrderDto>> {
    return this.pages.read(rangeOf(query), query, callerId);
  }

  async get(id: number, callerId: CallerId): Promise<OrderDto> {
    return toOrderDto(existing(await this.database.find(Order, id, callerId), id));
  }

  place(body: NewOrderDto, source: CommandSource): Promise<OrderDto> {
    const { petId, quantity = 1, shipDate, complete = false } = body;
    return this.commands.execute(source, {
      needs: [...StockRows.needsOf(petId), { newId: Order }],
      decide: (state) => {
        assertAvailable(state, petId);
        const item = StockRows.get(state, petId);
        const stock = stockAfter(item, -quantity);
        const id = state.newId(Order);
        const order = { id, petId, quantity, shipDate: parseDate(shipDate), complete, cancelledAt: null };
        state.insert(Order, id, order);
        const openOrders = item.openOrders + (complete ? 0 : 1);
        StockRows.change(state, petId, { stock, openOrders });
        return toOrderDto(order);
      },
    });
  }

  /** Reschedules or completes an order. Locks the pet only for a completion, which changes the pet's number of open orders. */
  async update(id: number, patch: OrderPatchDto, source: CommandSource): Promise<OrderDto> {
    const petId = patch.complete === true ? await this.petOf(id, source) : undefined;
    return this.commands.execute(source, {
      needs: [...(petId === undefined ? [] : StockRows.needsOf(petId)), needOf(id)],
      resource: (state) => toOrderDto(findExisting(state, id)),
      decide: (state) => {
        const before = findExisting(state, id);
        const { complete = before.complete } = patch;
        if (before.complete && !complete) {
          throw new OrderAlreadyCompleteError(id);
        }
        const shipDate = patch.shipDate === undefined ? before.shipDate : parseDate(patch.shipDate);
        const after: Order = { ...before, complete, shipDate };
        state.update(Order, id, after);
        if (petId !== undefined && !before.complete) {
          const { openOrders } = StockRows.get(state, petId);
          StockRows.change(state, petId, { openOrders: openOrders - 1 });
        }
        return toOrderDto(after);
      },
    });
  }

  async cancel(id: number, source: CommandSource): Promise<void> {
    const petId = await this.petOf(id, source);
    return this.commands.execute(source, {
      needs: [...StockRows.needsOf(petId), needOf(id)],
      resource: (state) => toOrderDto(findExisting(state, id)),
      decide: (state) => {
        const order = findExisting(state, id);
        if (order.complete) {
          throw new OrderAlreadyCompleteError(id);
        }
        state.update(Order, id, { ...order, cancelledAt: state.now });
        const item = StockRows.get(state, petId);
        const stock = stockAfter(item, order.quantity);
        StockRows.change(state, petId, { stock, openOrders: item.openOrders - 1 });
      },
    });
  }

  /**
   * Returns the id of the pet that an order is for, without a lock on the order. A command has to lock the pet before
   * the order, so the command needs the id of the pet before it locks the order. No lock is needed for the id, because
   * the pet of an order never changes.
   */
  private async petOf(id: number, source: CommandSource): Promise<number> {
    return (await this.get(id, source.callerId)).petId;
  }
}

function assertAvailable(state: State, petId: number): void {
  const pet = PetRows.find(state, petId);
  if (pet === null) {
    throw new UnknownPetError(petId);
  }
  if (pet.status !== 'available') {
    throw new PetNotAvailableError(petId, pet.status);
  }
}

function needOf(id: number): Need {
  return { entity: Order, id, lock: 'FOR NO KEY UPDATE' };
}

function existing(order: Order | null, id: number): Order {
  if (order?.cancelledAt !== null) {
    throw new OrderNotFoundError(id);
  }
  return order;
}

function findExisting(state: State, id: number): Order {
  return existing(state.find(Order, id), id);
}

const selectOrders: Select<ListOrdersQuery> = ({ petId, complete }, parameter) => {
  const ofPet = petId === undefined ? [] : [`pet_id = ${parameter(petId, 'bigint')}`];
  const wanted = complete === undefined ? [false, true] : [complete];
  return {
    conditions: ['cancelled_at IS NULL', ...ofPet],
    anyOf: {
      column: 'complete',
      // The index `orders_by_complete`, for the orders of all pets, has `complete` in ascending order. The index
      // `orders_by_pet`, for the orders of one pet, has `complete` in descending order.
      indexDirection: petId === undefined ? 'ASC' : 'DESC',
      values: wanted.map((value) => parameter(value, 'boolean')),
    },
  };
};

/**
 * Reports changes of orders in the event feed. A cancellation is also a change of a row, because a cancelled order
 * keeps its row and gets a `cancelledAt`.
 */
export const ORDERS_TABLE: WrittenTable = {
  entity: Order,
  eventsOf: (state) => state.changesOf(Order).flatMap(({ before, after }) => eventsOfChange(before, after!)),
};

/** Returns two events if one request places or reschedules an order and completes it as well. */
function eventsOfChange(before: Order | null, after: Order): NewEvent[] {
  const { petId, shipDate, complete, cancelledAt } = after;
  if (cancelledAt !== null) {
    return [{ type: 'order.cancelled', petId, data: toOrderDto(before!) }];
  }
  const data = toOrderDto(after);
  const isRescheduled = before !== null && shipDate?.getTime() !== before.shipDate?.getTime();
  return [
    ...(before === null ? [{ type: 'order.placed', petId, data } as const] : []),
    ...(isRescheduled ? [{ type: 'order.updated', petId, data } as const] : []),
    ...(complete && before?.complete !== true ? [{ type: 'order.completed', petId, data } as const] : []),
  ];
}
